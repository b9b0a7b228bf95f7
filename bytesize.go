package filelogreceiver

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// ByteSize is a number of bytes. In a configuration it is a number, or text of
// a decimal number and one of the units kB, MB, GB, TB, PB (powers of 1000) or
// kiB, MiB, GiB, TiB, PiB (powers of 1024), in any case, with or without blanks
// between them: 1MiB, "16 kB", 1.5GiB. Fractions of a byte are cut off.
type ByteSize int64

var (
	byteSizePattern = regexp.MustCompile(`^(\d+\.?\d*)\s*(?:([kmgtp])(i?)b)?$`)
	byteSizePowers  = map[string]int64{"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
)

// UnmarshalText reads a size that was given as text. The arithmetic is exact
// for every size that fits; one that does not is refused.
func (b *ByteSize) UnmarshalText(text []byte) error {
	parts := byteSizePattern.FindStringSubmatch(strings.ToLower(string(text)))
	if parts == nil {
		return fmt.Errorf("invalid byte size '%s'", text)
	}
	size, ok := new(big.Rat).SetString(parts[1])
	if !ok {
		return fmt.Errorf("invalid byte size '%s'", text)
	}
	base := int64(1000)
	if parts[3] != "" {
		base = 1024
	}
	factor := new(big.Int).Exp(big.NewInt(base), big.NewInt(byteSizePowers[parts[2]]), nil)
	size.Mul(size, new(big.Rat).SetInt(factor))
	whole := new(big.Int).Quo(size.Num(), size.Denom())
	if !whole.IsInt64() {
		return fmt.Errorf("invalid byte size '%s': more than %d bytes", text, int64(1<<63-1))
	}
	*b = ByteSize(whole.Int64())
	return nil
}
