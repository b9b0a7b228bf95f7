package filelogreceiver

import (
	"context"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// H18, U5
func TestWhatIsNoRegularFileIsToldOnceAndLeftAlone(t *testing.T) {
	t.Parallel()
	l := newLab(t, nil)
	require.NoError(t, syscall.Mkfifo(l.path("a"), 0o644))
	require.NoError(t, os.Mkdir(l.path("b"), 0o755))
	socket, err := (&net.ListenConfig{}).Listen(context.Background(), "unix", l.path("c"))
	require.NoError(t, err)
	defer socket.Close()
	l.write("z.log", "z1\n").start().expect("z1")
	l.write("z.log", "z2\n").expect("z1", "z2")
	require.Equal(t, 2, l.logged("Not a regular file, it is not read"), "FIFO and socket")
	require.Len(t, l.complaints(), 2)
	at := time.Now()
	l.stop()
	require.Less(t, time.Since(at), 2*time.Second)
}

// H16, H9
func TestWhatMayNotBeReadIsToldOnceAndReadWhenItMay(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t) // root may read everything
		return
	}
	t.Parallel()
	l := newLab(t, nil)
	l.keys["include"] = []any{l.path("*.log"), l.path("closed/*.log")}
	l.write("a.log", "a\n").write("b.log", "b\n").write("closed/c.log", "c\n")
	require.NoError(t, os.Chmod(l.path("a.log"), 0))
	require.NoError(t, os.Chmod(l.path("closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(l.path("closed"), 0o755) })
	l.start().expect("b")
	require.Equal(t, 1, l.logged("Failed to open file - unreadable"))
	require.Len(t, l.complaints(), 2)
	require.NoError(t, os.Chmod(l.path("a.log"), 0o644))
	require.NoError(t, os.Chmod(l.path("closed"), 0o755))
	l.expect("a", "b", "c")
	require.Equal(t, 1, l.logged("Previously unreadable file is now readable"))
	require.Len(t, l.complaints(), 2)
}

func TestTheStatusTellsOfWhatMayNotBeReadAndOfItsEnd(t *testing.T) {
	if os.Geteuid() == 0 {
		asNobody(t) // root may read everything
		return
	}
	for name, c := range map[string]struct{ begin, end func(*lab) error }{
		"a file that may be read again": {
			func(l *lab) error { return os.Chmod(l.path("closed/c.log"), 0) },
			func(l *lab) error { return os.Chmod(l.path("closed/c.log"), 0o644) },
		},
		"a file that is deleted": {
			func(l *lab) error { return os.Chmod(l.path("closed/c.log"), 0) },
			func(l *lab) error { return os.Remove(l.path("closed/c.log")) },
		},
		"a file that leaves the pattern": {
			func(l *lab) error { return os.Chmod(l.path("closed/c.log"), 0) },
			func(l *lab) error { return os.Rename(l.path("closed/c.log"), l.path("c.old")) },
		},
		"a folder that may be listed again": {
			func(l *lab) error { return os.Chmod(l.path("closed"), 0) },
			func(l *lab) error { return os.Chmod(l.path("closed"), 0o755) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, nil)
			l.keys["include"] = []any{l.path("*.log"), l.path("closed/*.log")}
			l.write("a.log", "a\n").write("closed/c.log", "c\n")
			t.Cleanup(func() { _ = os.Chmod(l.path("closed"), 0o755) })
			require.NoError(t, c.begin(l))
			l.start().expect("a")
			l.reports(troubled)
			_, err := l.health.reported()
			require.ErrorIs(t, err, os.ErrPermission)
			require.ErrorContains(t, err, l.path("closed"))
			require.NoError(t, c.end(l))
			l.reports(troubled, healthy)
		})
	}
}

// asNobody runs the test that calls it in a process without privileges.
func asNobody(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "nobody")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o777))
	// The way to the test binary may be closed to nobody; its own link is not.
	cmd := exec.Command("/proc/self/exe", "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: "+t.Name())
}

func TestANameThatIsNotUTF8CostsNoOtherRecord(t *testing.T) {
	t.Parallel()
	l := newLab(t, map[string]any{"include_file_path": true})
	l.write("bad\xff.log", "line\n").start().expect("line")
	r := l.find("line")
	require.Equal(t, "bad\uFFFD.log", r.attributes["log.file.name"])
	require.Equal(t, l.path("bad\uFFFD.log"), r.attributes["log.file.path"])
}
