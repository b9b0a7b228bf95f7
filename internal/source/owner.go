package source

import (
	"os/user"
	"strconv"
)

// Owner looks up the names of the user and the group that own a file.
func Owner(i Info) (name, group string, err error) {
	u, err := user.LookupId(strconv.FormatUint(uint64(i.UID), 10))
	if err != nil {
		return "", "", err
	}
	g, err := user.LookupGroupId(strconv.FormatUint(uint64(i.GID), 10))
	if err != nil {
		return "", "", err
	}
	return u.Username, g.Name, nil
}
