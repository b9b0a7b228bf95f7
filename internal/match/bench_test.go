package match

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// settle makes a matcher that trusts its listings: the directories were made long
// before the time of its polls.
func settle(tb testing.TB, c Config) (*Matcher, time.Time) {
	tb.Helper()
	matcher, err := New(c)
	require.NoError(tb, err)
	now := time.Now().Add(time.Hour)
	require.NotEmpty(tb, matcher.Poll(now).Paths)
	matcher.Poll(now)
	return matcher, now
}

func writeFiles(tb testing.TB, dir string, count int) {
	tb.Helper()
	require.NoError(tb, os.MkdirAll(dir, 0o700))
	for i := range count {
		require.NoError(tb, os.WriteFile(filepath.Join(dir, fmt.Sprintf("app-%05d.log", i)), nil, 0o600))
	}
}

func BenchmarkPollWithoutChange(b *testing.B) {
	for _, files := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("%d files in a directory", files), func(b *testing.B) {
			dir := b.TempDir()
			writeFiles(b, dir, files)
			matcher, now := settle(b, Config{Include: []string{filepath.Join(dir, "*.log")}})
			b.ReportAllocs()
			for b.Loop() {
				matcher.Poll(now)
			}
		})
	}
	b.Run("1000 directories of one file", func(b *testing.B) {
		dir := b.TempDir()
		for i := range 1_000 {
			writeFiles(b, filepath.Join(dir, fmt.Sprintf("pod-%d", i)), 1)
		}
		matcher, now := settle(b, Config{Include: []string{filepath.Join(dir, "*/*.log")}})
		b.ReportAllocs()
		for b.Loop() {
			matcher.Poll(now)
		}
	})
	b.Run("10000 files hidden by age", func(b *testing.B) {
		dir := b.TempDir()
		writeFiles(b, dir, 10_000)
		require.NoError(b, os.WriteFile(filepath.Join(dir, "new.log"), nil, 0o600))
		require.NoError(b, os.Chtimes(filepath.Join(dir, "new.log"), time.Time{}, time.Now().Add(24*time.Hour)))
		matcher, now := settle(b, Config{Include: []string{filepath.Join(dir, "*.log")}, ExcludeOlderThan: time.Minute})
		b.ReportAllocs()
		for b.Loop() {
			matcher.Poll(now)
		}
	})
}

// One new file is what rotation does; the cost is that of listing one directory.
func BenchmarkPollAfterOneNewFile(b *testing.B) {
	add := func(b *testing.B, dir string, c Config) {
		matcher, now := settle(b, c)
		path := filepath.Join(dir, "zzz.log")
		exists := false
		b.ReportAllocs()
		for b.Loop() {
			if exists {
				require.NoError(b, os.Remove(path))
			} else {
				require.NoError(b, os.WriteFile(path, nil, 0o600))
			}
			exists = !exists
			now = now.Add(time.Millisecond)
			matcher.Poll(now)
		}
	}
	for _, files := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("%d files in a directory", files), func(b *testing.B) {
			dir := b.TempDir()
			writeFiles(b, dir, files)
			add(b, dir, Config{Include: []string{filepath.Join(dir, "*.log")}})
		})
	}
	b.Run("1000 directories of ten files", func(b *testing.B) {
		dir := b.TempDir()
		for i := range 1_000 {
			writeFiles(b, filepath.Join(dir, fmt.Sprintf("pod-%d", i)), 10)
		}
		add(b, filepath.Join(dir, "pod-500"), Config{Include: []string{filepath.Join(dir, "*/*.log")}})
	})
}
