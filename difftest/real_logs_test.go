package difftest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"strings"
)

// numbered is n lines made by line.
func numbered(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// member is a member of a gzip file.
func member(text string) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		panic(err)
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// texts is a stage of plain files.
func texts(files map[string]string) stage {
	s := stage{}
	for name, text := range files {
		s[name] = []byte(text)
	}
	return s
}

var jsonStages = []stage{
	texts(map[string]string{
		"var/log/myservice/a.json": `{"time":"2024-05-06 09:00:00","n":"old"}` + "\n",
		"var/log/myservice/a.log":  "does not match\n",
	}),
	texts(map[string]string{
		"var/log/myservice/a.json": numbered(150, func(i int) string {
			return fmt.Sprintf(`{"time":"2024-05-06 10:%02d:%02d","n":%d}`, i/60, i%60, i)
		}) + "no json\n" + `{"time":"yesterday","n":[1,{"a":null}]}` + "\n",
		"var/log/myservice/a.log": "does not match\n",
	}),
}

var plainStages = []stage{
	texts(map[string]string{"simple.log": "2023-06-18 05:20:50 ERROR old\n"}),
	texts(map[string]string{"simple.log": `2023-06-19 05:20:50 ERROR This is a test error message
2023-06-20 12:50:00 DEBUG This is a test debug message
2023-06-20 12:50:01  no severity
does not match
2023-06-31 25:00:00 NOTICE no such time` + "\n"}),
}

const exception = `Exception in thread 1 "main" java.lang.NullPointerException
        at com.example.myproject.Book.getTitle(Book.java:16)
        at com.example.myproject.Author.getBookTitles(Author.java:25)
        at com.example.myproject.Bootstrap.main(Bootstrap.java:14)
Exception in thread 2 "main" java.lang.NullPointerException
        at com.example.myproject.Book.getTitle(Book.java:16)
        at com.example.myproject.Author.getBookTitles(Author.java:25)
        at com.example.myproject.Bootstrap.main(Bootstrap.java:44)
`

var multilineStages = []stage{
	texts(map[string]string{"var/log/example/multiline.log": "Exception before the start\n\tat all\n"}),
	texts(map[string]string{"var/log/example/multiline.log": exception}),
	texts(map[string]string{"var/log/example/multiline.log": "Exception in thread 3\n        Exception: not at the begin of a line\n"}),
}

func compressedMember(number, lines int) stage {
	return stage{"var/log/example/compressed.log.gz": member(numbered(lines, func(i int) string { return fmt.Sprintf("member %d line %d", number, i) }))}
}

var compressedStages = []stage{compressedMember(0, 100), compressedMember(1, 30), compressedMember(2, 30)}

var selfMonitoringStages = []stage{
	texts(map[string]string{"var/log/otelcol/collector.log": "2026-07-06T22:00:00.000Z\tinfo\tservice/service.go:1\told\t{}\n"}),
	texts(map[string]string{"var/log/otelcol/collector.log": `{"ts":"2026-07-06T22:56:21.989Z","level":"warn","msg":"Failed to scrape Prometheus endpoint","resource":{"k8s.pod.name":"otel-agent-qkvqj","service.name":"otel-agent"},"otelcol.component.id":"receiver_creator"}
2026-07-06T22:56:21.989Z	warn	internal/transaction.go:127	Failed to scrape Prometheus endpoint	{"resource":{"k8s.pod.name":"otel-agent-qkvqj","service.name":"otel-agent"},"otelcol.component.id":"receiver_creator"}
2026-07-06T22:56:22.101Z	error	internal/queue.go:57	Exporting failed	{"resource":{"service.name":"otel-agent"},"dropped":3}
go.opentelemetry.io/collector/exporter/internal.(*queue).send
	internal/queue.go:57
2026-07-06T22:56:23.000Z	info	service/service.go:2	Everything is ready.	{"resource":{"service.name":"otel-agent"}}
`}),
}

const (
	pods = "var/log/pods/"
	cart = pods + "shop_cart-7d9f_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b11/cart/0.log"
	job  = pods + "batch_job-x2_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b12/run/3.log"
	node = pods + "kube-system_proxy-1_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b13/kube-proxy/12.log"
)

var podStages = []stage{
	texts(map[string]string{
		cart: "2024-05-06T08:00:00.000000000Z stdout F already there\n",
		node: "2024-05-06T10:00:00.123456789+02:00 stdout F already there\n",
		pods + "monitoring_my-opentelemetry-collector-agent-zz_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b14/opentelemetry-collector/0.log": "",
	}),
	texts(map[string]string{
		cart: "2024-05-06T08:00:01.000000000Z stdout P begin,\n" +
			"2024-05-06T08:00:01.000000001Z stdout P  middle,\n" +
			"2024-05-06T08:00:01.000000002Z stdout F  end\n" +
			"2024-05-06T08:00:02.5Z stderr F   indented\n" +
			"2024-05-06T08:00:03.000000003Z stdout F \n",
		node: "2024-05-06T10:00:01.123456789+02:00 stdout F from CRI-O\n" +
			"2024-05-06T10:00:01.123456790+02:00 stderr F second of CRI-O\n",
		pods + "monitoring_my-opentelemetry-collector-agent-zz_4f5c8a2e-9d1b-4c59-8a4e-2f6f3f1c0b14/opentelemetry-collector/0.log": "2024-05-06T08:00:01.5Z stderr F excluded by the chart\n",
	}),
}

// Nodes of docker are tried alone: contrib's container operator keeps the layout
// of the time in one place for all files that are read at once, so with other
// formats beside it times are sometimes not understood.
var dockerPodStages = []stage{
	texts(map[string]string{job: `{"log":"already there\n","stream":"stdout","time":"2024-05-06T08:00:00.000000001Z"}` + "\n"}),
	texts(map[string]string{job: `{"log":"from docker\n","stream":"stdout","time":"2024-05-06T08:00:01.000000001Z"}` + "\n" +
		`{"log":"second of docker\n","stream":"stderr","time":"2024-05-06T08:00:02.1Z"}` + "\n"}),
}

// together are the files of both.
func together(a, b []stage) []stage {
	var all []stage
	for i := range a {
		s := maps.Clone(a[i])
		maps.Copy(s, b[i])
		all = append(all, s)
	}
	return all
}

const containers = "var/lib/docker/containers/"

func dockerJSON(text, stream string, i int) string {
	return fmt.Sprintf(`{"log":%q,"stream":%q,"time":"2024-05-06T10:%02d:%02d.%dZ"}`, text, stream, i/60, i%60, i+1)
}

var dockerStages = []stage{
	texts(map[string]string{
		containers + "4f5c8a2e9d1b/4f5c8a2e9d1b-json.log": numbered(120, func(i int) string { return dockerJSON(fmt.Sprintf("line %d\n", i), "stdout", i) }),
		containers + "4f5c8a2e9d1b/config.v2.json":        "{}\n",
	}),
	texts(map[string]string{
		containers + "4f5c8a2e9d1b/4f5c8a2e9d1b-json.log": dockerJSON("  indented\n", "stderr", 0) + "\n",
		containers + "aaaa8a2e9d1b/aaaa8a2e9d1b-json.log": dockerJSON("tschüß €\n", "stdout", 0) + "\n",
	}),
}

var syslogStages = []stage{texts(map[string]string{
	"var/log/syslog": `<34>Oct 11 22:14:15 web1 su: 'su root' failed for lonvick on /dev/pts/8
<13>Feb  5 17:32:18 web1 sshd[811]: Accepted publickey for root
no syslog
`,
	"var/log/messages": `Oct 11 22:14:16 db1 kernel: eth0: link up
Oct 11 22:14:17 db1 CRON[17]: (root) CMD (true)
`,
})}

var structuredSyslogStages = []stage{
	texts(map[string]string{"var/log/remote/fw.log": numbered(100, func(i int) string {
		return fmt.Sprintf(`<%d>1 2024-05-06T10:00:%02d.003Z fw1 app %d ID%d - event %d`, i, i%60, i, i, i)
	})}),
	texts(map[string]string{"var/log/remote/fw.log": `<165>1 2003-10-11T22:14:15.003Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 iut="3" eventSource="Application" eventID="1011"] An application event log entry
no syslog
<34>1 2003-10-11T22:14:15.003+02:00 mymachine su - ID48 - 'su root' failed
<165>1 2003-10-11T22:14:15.003Z mymachine app 1 ID49 [a@1 k="v"]
`}),
}

func access(target string, status, bytes int, second int) string {
	return fmt.Sprintf(`192.0.2.%d - - [06/May/2024:10:%02d:%02d +0200] "GET %s HTTP/1.1" %d %d "-" "curl/8.7.1 (x; \"y\")"`, 1+second%250, second/60, second%60, target, status, bytes)
}

var nginxStages = []stage{
	texts(map[string]string{
		"var/log/nginx/access.log": numbered(120, func(i int) string { return strings.ReplaceAll(access(fmt.Sprintf("/item/%d", i), 200, i, i), `\"`, "") }),
		"var/log/nginx/error.log":  "2024/05/06 10:00:00 [error] 7#7: *1 open() failed\n",
	}),
	texts(map[string]string{"var/log/nginx/access.log": strings.ReplaceAll(
		access("/healthz", 200, 2, 0)+"\n"+access("/missing?a=b%20c", 404, 153, 1)+"\n"+access("/down", 502, 0, 2)+"\n", `\"`, "") +
		access("/quotes", 301, 0, 3) + "\n" + `192.0.2.9 - - [06/May/2024:10:00:00 +0200] "\x16\x03\x01" 400 157 "-" "-"` + "\n"}),
}

var javaStages = []stage{
	texts(map[string]string{"var/log/app/a.log": `2024-05-06 10:00:00,001 INFO  [main] shop.Main - started
2024-05-06 10:00:01,407 ERROR [http-1] shop.Invoices - cannot render invoice
java.lang.IllegalStateException: no template
	at shop.Invoices.render(Invoices.java:88)

	at shop.Main.main(Main.java:12)
Caused by: java.io.IOException: stream closed
	... 12 more
2024-05-06 10:00:02,000 WARN  [http-2] shop.Stock - slow
`}),
	texts(map[string]string{"var/log/app/a.log": `2024-05-06 10:00:03,000 DEBUG [http-2] shop.Stock - two lines:
  2024-05-06 10:00:03,000 is not the begin
2024-05-06 10:00:04,000 FATAL [main] shop.Main - end
`}),
}

var csvStages = []stage{
	texts(map[string]string{"srv/export/a.csv": numbered(120, func(i int) string { return fmt.Sprintf("%d,INFO,1715000000.%03d,message %d", i, i, i) })}),
	texts(map[string]string{"srv/export/a.csv": `1,ERROR,1715000001.000,"a, b and ""c"""
7,INFO
2,warn,1715000002.5,bare "quotes" inside
3,debug,1715000003.000,
`,
		"srv/export/b.csv": "1,TRACE,not a time,x\n"}),
}

var iisStages = []stage{
	texts(map[string]string{
		"inetpub/logs/W3SVC1/u_ex240506.log": `#Software: Microsoft Internet Information Services 10.0
#Fields: date time cs-method cs-uri-stem sc-status
2024-05-06 10:00:01 GET /default.htm 200
2024-05-06 10:00:02 POST /form 404
`,
		"inetpub/logs/W3SVC2/u_en240506.log": `#Software: another order
#Fields: sc-status date time cs-method
301 2024-05-06 10:00:03 HEAD
`,
	}),
	texts(map[string]string{"inetpub/logs/W3SVC1/u_ex240506.log": "2024-05-06 10:00:04 GET /late 500\n"}),
}

var keyValueStages = []stage{
	texts(map[string]string{"var/log/proxy/p.log": numbered(120, func(i int) string {
		return fmt.Sprintf("ts=2024-05-06T10:%02d:%02d.%03dZ lvl=I msg=%q n=%d", i/60, i%60, i, fmt.Sprintf("request %d", i), i)
	})}),
	texts(map[string]string{"var/log/proxy/p.log": `ts=2024-05-06T11:00:00.000+02:00 lvl=X msg="cannot connect" trace=48485a3953bb61246b221d5bc9df496c span=0102030405060708 scope=proxy.upstream
ts=2024-05-06T11:00:01.000Z lvl=W msg='single quotes' empty=""
not a pair
ts=2024-05-06T11:00:02.000Z lvl=Q path=/a?b=c
`}),
}

const shop = "var/log/shop/"

func past(of string, n int) []byte {
	return member(numbered(n, func(i int) string { return fmt.Sprintf(`{"of":%q,"n":%d}`, of, i) }))
}

var rotatedStages = []stage{
	{
		shop + "app.log":      []byte(`{"of":"now","n":1}` + "\nplain\n"),
		shop + "app.log.1.gz": past("the newest past", 150),
		shop + "app.log.2.gz": past("the oldest past", 150),
	},
	{
		shop + "app.log":      []byte(`{"of":"now","n":2}` + "\n" + `{"of":"now","n":[3]}` + "\n"),
		shop + "app.log.3.gz": past("late past", 101),
	},
}

var newestStages = []stage{
	texts(map[string]string{
		"data/a/err.10.20240506.log": "node a day 1 number 10\n",
		"data/a/err.9.20240507.log":  "node a day 2 number 9\n",
		"data/a/err.10.20240507.log": "node a day 2 number 10\nsecond line of it\n",
		"data/b/err.1.20240101.log":  "node b alone\n",
	}),
	texts(map[string]string{"data/a/err.10.20240507.log": "third line of it\n"}),
	texts(map[string]string{
		"data/a/err.9.20240507.log": "never seen\n",
		"data/b/err.2.20240101.log": "node b newer\nand more\n",
	}),
}

var twoFormatStages = []stage{texts(map[string]string{"var/log/mixed/m.log": numbered(125, func(i int) string {
	return fmt.Sprintf("{\"level\":%q,\"msg\":\"json %d\"}\nwarn: plain %d", []string{"info", "error"}[i%2], i, i)
})})}
