package main

import "time"

// usage is what a process has used since it was started.
type usage struct {
	cpu     time.Duration // user and kernel, all threads, those that have ended too
	peak    int64         // largest resident memory in bytes
	written int64         // bytes caused to be sent to the storage layer; a page that is dirty already counts once
	handed  int64         // bytes handed to write system calls
	reads   int64         // read system calls
}

// figures are what one run is judged by.
type figures struct {
	CPUSeconds  float64 `json:"cpu_seconds"`
	WallSeconds float64 `json:"wall_seconds"`
	CPUPercent  float64 `json:"cpu_percent"` // of one processor
	PeakMiB     float64 `json:"peak_mib"`
	WrittenMiB  float64 `json:"written_mib"`
	HandedMiB   float64 `json:"handed_mib"`
	ReadCalls   float64 `json:"read_calls"`
	Records     float64 `json:"records"`
	PerCPU      float64 `json:"records_per_cpu_second"`
}

// between is what was used from one moment to another.
func between(a, b usage, wall time.Duration, records int) figures {
	const mib = 1 << 20
	cpu := (b.cpu - a.cpu).Seconds()
	f := figures{
		CPUSeconds:  cpu,
		WallSeconds: wall.Seconds(),
		CPUPercent:  100 * cpu / wall.Seconds(),
		PeakMiB:     float64(b.peak) / mib,
		WrittenMiB:  float64(b.written-a.written) / mib,
		HandedMiB:   float64(b.handed-a.handed) / mib,
		ReadCalls:   float64(b.reads - a.reads),
		Records:     float64(records),
	}
	if cpu > 0 {
		f.PerCPU = f.Records / cpu
	}
	return f
}
