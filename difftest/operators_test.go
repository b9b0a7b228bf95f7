package difftest

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// chain is operators and a line that they are made for.
type chain struct {
	operators []any
	line      func(d dice) string
}

type op = map[string]any

func jsonLine(d dice) string {
	return fmt.Sprintf(`{"time":"2024-05-0%dT10:00:00.%03dZ","level":"%s","message":"%s","n":%d,"f":1.5,"list":[1,"a"],"sub":{"k":null,"b":true},"trace":"%032x"}`,
		1+d.IntN(9), d.IntN(1000), pick(d, "info", "WARN", "error", "nonsense"), d.word(8), d.IntN(100), d.Uint64())
}

func plainLine(d dice) string {
	return fmt.Sprintf("2024-05-06 10:%02d:%02d %s [%s] %s", d.IntN(60), d.IntN(60), pick(d, "INFO", "DEBUG", "FATAL"), d.word(4), d.ascii(20))
}

func criLine(d dice) string {
	return fmt.Sprintf("2024-05-06T10:00:0%d.%09dZ %s %s %s", d.IntN(9), d.IntN(1e9), pick(d, "stdout", "stderr"), pick(d, "F", "F", "P"), d.ascii(30))
}

func dockerLine(d dice) string {
	return fmt.Sprintf(`{"log":"%s%s","stream":"%s","time":"2024-05-06T10:00:00.%09dZ"}`, d.word(10), pick(d, `\n`, `\n`, ``), pick(d, "stdout", "stderr"), d.IntN(1e9))
}

func stackLine(d dice) string {
	return pick(d, "2024-05-06 ERROR "+d.word(5), "\tat "+d.word(6), "\tat "+d.word(7), "Caused by "+d.word(3))
}

func stray(line func(dice) string) func(dice) string {
	return func(d dice) string {
		if d.chance(10) {
			return d.line()
		}
		return line(d)
	}
}

var timeOf = op{"parse_from": "attributes.time", "layout": "%Y-%m-%d %H:%M:%S"}

var chains = []chain{
	{[]any{op{"type": "json_parser", "timestamp": op{"parse_from": "attributes.time", "layout_type": "gotime", "layout": "2006-01-02T15:04:05.000Z"},
		"severity": op{"parse_from": "attributes.level"}}}, stray(jsonLine)},
	{[]any{op{"type": "json_parser", "parse_to": "body", "on_error": "drop"}, op{"type": "move", "from": "body.message", "to": "attributes.message"}}, stray(jsonLine)},
	{[]any{op{"type": "json_parser"}, op{"type": "flatten", "field": "attributes.sub"}, op{"type": "remove", "field": "attributes.list"}}, jsonLine},
	{[]any{op{"type": "json_parser"}, op{"type": "trace_parser", "trace_id": op{"parse_from": "attributes.trace"}}, op{"type": "retain", "fields": []any{"attributes.n", "attributes.f", `attributes["log.file.name"]`}}}, jsonLine},
	{[]any{op{"type": "json_parser"}, op{"type": "scope_name_parser", "parse_from": "attributes.message"}, op{"type": "copy", "from": "attributes.n", "to": "resource.n"}}, jsonLine},
	{[]any{op{"type": "regex_parser", "regex": `^(?P<time>\S+ \S+) (?P<sev>\w+) \[(?P<thread>\w+)\] (?P<msg>.*)$`, "timestamp": timeOf,
		"severity": op{"parse_from": "attributes.sev"}}}, stray(plainLine)},
	{[]any{op{"type": "regex_parser", "regex": `^(?P<time>\S+ \S+) (?P<sev>\w+)`, "on_error": "drop_quiet"}, op{"type": "time_parser", "parse_from": "attributes.time", "layout": "%Y-%m-%d %H:%M:%S", "location": "Europe/Berlin"},
		op{"type": "severity_parser", "parse_from": "attributes.sev", "mapping": op{"error": "FATAL", "debug2": []any{"DEBUG"}}}}, stray(plainLine)},
	{[]any{op{"type": "filter", "expr": `body matches "INFO"`}, op{"type": "add", "field": "attributes.added", "value": "EXPR(body)"}}, plainLine},
	{[]any{op{"type": "add", "field": "attributes.a", "value": "x", "if": `body contains "DEBUG"`}, op{"type": "regex_replace", "field": "body", "regex": `\d+`, "replace_with": "N"}}, plainLine},
	{[]any{op{"type": "router", "routes": []any{op{"output": "one", "expr": `body contains "INFO"`}, op{"output": "two", "expr": `body contains "FATAL"`}}, "default": "two"},
		op{"type": "add", "id": "one", "field": "attributes.way", "value": "one", "output": "end"}, op{"type": "add", "id": "two", "field": "attributes.way", "value": "two"}, op{"type": "noop", "id": "end"}}, plainLine},
	{[]any{op{"type": "container"}}, criLine},
	{[]any{op{"type": "container", "format": "containerd", "add_metadata_from_filepath": false}}, criLine},
	{[]any{op{"type": "container", "add_metadata_from_filepath": false}}, stray(criLine)},
	{[]any{op{"type": "container", "add_metadata_from_filepath": false}}, dockerLine},
	{[]any{op{"type": "container", "format": "docker", "add_metadata_from_filepath": false}, op{"type": "add", "field": "attributes.x", "value": "y"}}, stray(dockerLine)},
	{[]any{op{"type": "container", "format": "containerd", "add_metadata_from_filepath": false, "max_log_size": 50}}, criLine},
	{[]any{op{"type": "recombine", "combine_field": "body", "is_first_entry": `body matches "^\\d"`, "source_identifier": `attributes["log.file.name"]`, "force_flush_period": "50ms"}}, stackLine},
	{[]any{op{"type": "recombine", "combine_field": "body", "is_last_entry": `body startsWith "Caused"`, "max_batch_size": 7, "force_flush_period": "50ms", "source_identifier": `attributes["log.file.name"]`}}, stackLine},
	{[]any{op{"type": "recombine", "combine_field": "body", "combine_with": " | ", "is_first_entry": `body matches "^\\d"`, "overwrite_with": "newest", "max_log_size": 60, "force_flush_period": "50ms", "source_identifier": `attributes["log.file.name"]`},
		op{"type": "regex_parser", "regex": `^(?P<time>\S+) (?P<sev>\w+)`, "on_error": "send_quiet"}}, stackLine},
	{[]any{op{"type": "key_value_parser"}}, func(d dice) string {
		return fmt.Sprintf("a=%s b=%q c=%d", d.word(3), d.word(2), d.IntN(50))
	}},
	{[]any{op{"type": "csv_parser", "header": "a,b,c", "on_error": "send_quiet"}}, func(d dice) string {
		return fmt.Sprintf(`%s,"%s",%d`, d.word(3), d.ascii(2), d.IntN(9))
	}},
	{[]any{op{"type": "syslog_parser", "protocol": "rfc5424"}}, func(d dice) string {
		return fmt.Sprintf(`<%d>1 2024-05-06T10:00:00.%03dZ host app %d ID1 [x@1 k="%s"] %s`, d.IntN(190), d.IntN(1000), d.IntN(999), d.word(3), d.word(9))
	}},
	{[]any{op{"type": "uri_parser", "parse_from": "body"}}, func(d dice) string {
		return fmt.Sprintf("https://u:p@%s.example:%d/%s?a=%d&a=2", d.word(4), 1+d.IntN(999), d.word(5), d.IntN(4))
	}},
	{[]any{op{"type": "unquote", "field": "body", "on_error": "drop_quiet"}, op{"type": "sanitize_utf8", "field": "body"}}, func(d dice) string {
		return fmt.Sprintf("%q", d.text(10))
	}},
	{[]any{op{"type": "json_array_parser", "parse_to": "body"}, op{"type": "assign_keys", "field": "body", "keys": []any{"a", "b", "c"}, "on_error": "send_quiet"}}, func(d dice) string {
		return fmt.Sprintf(`["%s",%d,true]`, d.word(2), d.IntN(99))
	}},
}

func operatorsTrial(d dice) trial {
	c := pick(d, chains...)
	t := trial{
		keys: places(map[string]any{"operators": c.operators, "include_file_path": true}),
		stages: d.oneStage(func(name string) []byte {
			var b bytes.Buffer
			b.WriteString(c.line(d) + name + "\n")
			for range d.IntN(250) {
				b.WriteString(c.line(d) + "\n")
			}
			return b.Bytes()
		}),
	}
	if d.chance(30) {
		t.keys["attributes"] = map[string]any{"from": "EXPR(body)"}
	}
	return t
}
