package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// usageOf asks the kernel about a process.
func usageOf(pid int) (usage, error) {
	var u usage
	// The number of a process' CPU clock, as clock_getcpuclockid makes it. It
	// counts nanoseconds; /proc/PID/stat would count hundredths of a second,
	// which is too coarse for a process that does next to nothing.
	var cpu unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &cpu); err != nil {
		return u, fmt.Errorf("CPU clock of process %d: %w", pid, err)
	}
	u.cpu = time.Duration(cpu.Nano())
	peak, err := field(pid, "status", "VmHWM")
	if err != nil {
		return u, err
	}
	u.peak = peak << 10
	if u.written, err = field(pid, "io", "write_bytes"); err != nil {
		return u, err
	}
	if u.handed, err = field(pid, "io", "wchar"); err != nil {
		return u, err
	}
	u.reads, err = field(pid, "io", "syscr")
	return u, err
}

// field is a number in one of the kernel's files about a process.
func field(pid int, file, name string) (int64, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	b, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(line, ":")
		if key == name {
			number, _, _ := strings.Cut(strings.TrimSpace(value), " ")
			return strconv.ParseInt(number, 10, 64)
		}
	}
	return 0, fmt.Errorf("%s has no %s", path, name)
}
