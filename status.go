package filelogreceiver

import (
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
)

// status reports the health of the receiver to the Collector: a recoverable
// error while any trouble lasts, OK when the last one is over.
type status struct {
	host component.Host

	mu       sync.Mutex // guards troubles, and the order of reports
	troubles map[string]error
}

func newStatus(host component.Host) *status {
	return &status{host: host, troubles: map[string]error{}}
}

// report notes the trouble of that name, or with a nil error its end.
func (s *status) report(name string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, had := s.troubles[name]
	switch {
	case err != nil:
		s.troubles[name] = err
		componentstatus.ReportStatus(s.host, componentstatus.NewRecoverableErrorEvent(err))
	case had:
		delete(s.troubles, name)
		for _, other := range s.troubles {
			componentstatus.ReportStatus(s.host, componentstatus.NewRecoverableErrorEvent(other))
			return
		}
		componentstatus.ReportStatus(s.host, componentstatus.NewEvent(componentstatus.StatusOK))
	}
}
