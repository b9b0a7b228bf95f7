package batch

import (
	"regexp"
	"sync"
)

const (
	logPathKey  = "log.file.path"
	iostreamKey = "log.iostream"
)

// podLogPath is the path of a container's log as the kubelet makes it. It may
// say no to paths that stanza takes, never the other way round.
var podLogPath = regexp.MustCompile(`(?s)^.*[/\\]([^_/\\]+)_([^_/\\]+)_([a-f0-9-]+)[/\\]([^._/\\]+)[/\\](\d+)\.log(?:\.\d{8}-\d{6})?$`)

// podMetadata is what the path of a log says about its container, nil if nothing is said.
func podMetadata(path string) map[string]any {
	m := podLogPath.FindStringSubmatch(path)
	if m == nil {
		return nil
	}
	return map[string]any{
		"k8s.namespace.name":          m[1],
		"k8s.pod.name":                m[2],
		"k8s.pod.uid":                 m[3],
		"k8s.container.name":          m[4],
		"k8s.container.restart_count": m[5],
	}
}

// podMetadataLimit bounds how many paths a podMetadataCache knows. When it is
// full it starts again: a path costs microseconds.
const podMetadataLimit = 1024

// podMetadataCache remembers podMetadata of the paths seen. It is safe for
// concurrent use; the maps in it must not be changed.
type podMetadataCache struct {
	mu    sync.Mutex
	known map[string]map[string]any
}

func (c *podMetadataCache) of(path string) map[string]any {
	c.mu.Lock()
	defer c.mu.Unlock()
	m, ok := c.known[path]
	if !ok {
		m = podMetadata(path)
		if c.known == nil || len(c.known) == podMetadataLimit {
			c.known = make(map[string]map[string]any)
		}
		c.known[path] = m
	}
	return m
}
