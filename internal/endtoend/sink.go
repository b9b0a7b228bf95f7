package endtoend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
)

// Sink is an OTLP/HTTP server that counts how often each body arrived. It may be
// used by any goroutine.
type Sink struct {
	server *http.Server
	url    string

	mu        sync.Mutex
	connected int // open connections
	arrivals  map[string]arrival
	records   int
	repeats   int
	wrong     []string  // repeats that there is no excuse for
	excuse    time.Time // the latest moment after which nothing was saved, for messages
	answer    int       // the status of answers, 0 for success
	unblocked chan struct{}
}

type arrival struct {
	count   int
	last    time.Time
	excused bool // it may arrive again
}

// NewSink starts a sink that accepts everything.
func NewSink() (*Sink, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Sink{
		url:      "http://" + listener.Addr().String(),
		arrivals: map[string]arrival{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/logs", s.serve)
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second, ConnState: s.connection}
	go func() { _ = s.server.Serve(listener) }() // ends with Close
	return s, nil
}

// URL is the endpoint for an exporter.
func (s *Sink) URL() string { return s.url }

// Close ends the server and all requests.
func (s *Sink) Close() error {
	s.Unblock()
	return s.server.Close()
}

func (s *Sink) connection(_ net.Conn, state http.ConnState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch state {
	case http.StateNew:
		s.connected++
	case http.StateClosed, http.StateHijacked:
		s.connected--
	default: // still open
	}
}

// AwaitEnd waits until everything is taken that a Collector sent before it ended.
// A request that it wrote whole is taken also when its process is gone.
func (s *Sink) AwaitEnd() error {
	// Connections are accepted one after the other: when this request is answered,
	// those before it are counted.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: endLimit}
	response, err := client.Get(s.url)
	if err != nil {
		return err
	}
	if err := response.Body.Close(); err != nil {
		return err
	}
	for end := time.Now().Add(endLimit); time.Now().Before(end); time.Sleep(time.Millisecond) {
		s.mu.Lock()
		connected := s.connected
		s.mu.Unlock()
		if connected == 0 {
			return nil
		}
	}
	return errors.New("connections to the sink do not end")
}

// endLimit is how long what an ended Collector sent may take to be taken.
const endLimit = 30 * time.Second

func (s *Sink) serve(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	// A request has the same fields as the logs in it, and an answer without any
	// says that everything was taken.
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(data)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if status := s.take(r.Context(), logs); status != 0 {
		http.Error(w, "not now", status)
		return
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

func (s *Sink) take(ctx context.Context, logs plog.Logs) (status int) {
	s.mu.Lock()
	blocked := s.unblocked
	s.mu.Unlock()
	if blocked != nil {
		select {
		case <-blocked:
		case <-ctx.Done():
			return http.StatusServiceUnavailable
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer != 0 {
		return s.answer
	}
	now := time.Now()
	for _, rl := range logs.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, lr := range sl.LogRecords().All() {
				s.arrived(lr.Body().AsString(), now)
			}
		}
	}
	return 0
}

func (s *Sink) arrived(body string, now time.Time) {
	before := s.arrivals[body]
	s.records++
	if before.count > 0 {
		s.repeats++
		if !before.excused {
			s.wrong = append(s.wrong, fmt.Sprintf("%q arrived at %s and at %s; at the latest kill, what had arrived before %s was saved",
				body, before.last.Format(clock), now.Format(clock), s.excuse.Format(clock)))
		}
	}
	s.arrivals[body] = arrival{count: before.count + 1, last: now}
}

const clock = "15:04:05.000"

// Excuse says that the Collector was killed, and that what arrived after that
// moment was not saved: each such record may arrive once more, whenever that is.
// AwaitEnd comes before it.
func (s *Sink) Excuse(since time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.excuse = since
	for body, a := range s.arrivals {
		if !a.excused && !a.last.Before(since) {
			a.excused = true
			s.arrivals[body] = a
		}
	}
}

// Block lets requests wait until Unblock.
func (s *Sink) Block() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unblocked == nil {
		s.unblocked = make(chan struct{})
	}
}

// Unblock ends Block.
func (s *Sink) Unblock() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unblocked != nil {
		close(s.unblocked)
		s.unblocked = nil
	}
}

// Answer makes the sink take nothing and answer with that HTTP status; 0 makes
// it take everything again.
func (s *Sink) Answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = status
}

// Counts returns how many records arrived, how many of them not for the first
// time, and a description of each repeat without an excuse.
func (s *Sink) Counts() (records, repeats int, wrong []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records, s.repeats, append([]string(nil), s.wrong...)
}

// Missing returns those of the bodies that did not arrive.
func (s *Sink) Missing(bodies []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var missing []string
	for _, body := range bodies {
		if s.arrivals[body].count == 0 {
			missing = append(missing, body)
		}
	}
	return missing
}

// Strange returns bodies that arrived and are not among these.
func (s *Sink) Strange(bodies []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := make(map[string]bool, len(bodies))
	for _, body := range bodies {
		known[body] = true
	}
	var strange []string
	for body := range s.arrivals {
		if !known[body] {
			strange = append(strange, body)
		}
	}
	return strange
}
