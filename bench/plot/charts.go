package main

// barChart says which figure of which scenarios is drawn as bars.
type barChart struct {
	file, title string
	figure      string // key of the JSON results
	scenarios   []string
	format      string
}

var barCharts = []barChart{
	{"throughput.svg", "Records per CPU second (more is better)", "records_per_cpu_second", []string{"plain", "cri", "regex"}, "%.0f"},
	{"watching.svg", "Watching files, % of a processor (less is better)", "cpu_percent", []string{"idle", "idle10k", "busy"}, "%.2f"},
	{"memory.svg", "Peak memory, MiB (less is better)", "peak_mib", []string{"plain", "cri", "idle", "idle10k", "busy", "restart"}, "%.0f"},
}

// series is a curve: a benchmark that was run with several values of a parameter.
type series struct {
	label string
	name  string // of the benchmark, with * for the value
}

// curveChart says which figure of which benchmarks is drawn as curves.
type curveChart struct {
	file, title string
	x           string // what the parameter is
	unit        string
	series      []series
}

var curveCharts = []curveChart{
	{"line-size.svg", "CPU time per record by size of line, ns", "bytes of a line", "cpu-ns/record", []series{
		{"upstream", "BenchmarkLineSize/receiver=upstream/line=*"},
		{"ours", "BenchmarkLineSize/receiver=ours/line=*"},
		{"floor", "BenchmarkFloor/line=*"},
	}},
	{"files.svg", "CPU time per record by number of files, ns", "files", "cpu-ns/record", []series{
		{"upstream", "BenchmarkFiles/receiver=upstream/files=*"},
		{"ours", "BenchmarkFiles/receiver=ours/files=*"},
	}},
	{"poll.svg", "A poll over files of which none has changed, ns", "files", "ns/op", []series{
		{"ours", "BenchmarkPoll/files=*/changed=0"},
	}},
	{"save.svg", "Encoding of a full save by number of files, ns", "files", "ns/op", []series{
		{"JSON, as before v0.156", "BenchmarkComparisonSave/json/files=*"},
		{"generated protobuf code", "BenchmarkComparisonSave/generated-protobuf/files=*"},
		{"ours", "BenchmarkSnapshot/hash=false/files=*"},
	}},
	{"load.svg", "Loading by number of files, ns", "files", "ns/op", []series{
		{"JSON, as before v0.156", "BenchmarkComparisonLoad/json/files=*"},
		{"generated protobuf code", "BenchmarkComparisonLoad/generated-protobuf/files=*"},
		{"ours", "BenchmarkLoad/files=*"},
	}},
}
