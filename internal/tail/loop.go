package tail

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/fileid"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
)

// Rooms are what the loop connects.
type Rooms struct {
	Matcher  *match.Matcher
	Registry *registry.Registry
	Layer    source.Layer
	Framing  *framing.Framing
	Batches  *batch.Settings
	Pipeline *batch.Pipeline // nil: no operators
	Header   HeaderParser    // nil: files have no header
	Target   *deliver.Target
	Store    *checkpoint.Store // nil: positions are not saved
	Observer *Observer
	Logger   *zap.Logger
	Now      func() time.Time
}

// Loop follows the files of one receiver. Run is its one owner; nothing else
// touches it.
type Loop struct {
	Config
	Rooms

	entries []entry
	byName  map[string]int // index into entries
	cursor  int            // where the next poll begins when FilesPerPoll bounds it
	rounded bool           // the latest poll has come to the end of the names
	rounds  uint64         // how many polls have
	bodies  map[fileid.Locator]*body
	owners  map[*registry.Record]*body
	byID    map[uint64]*body           // while operators may hold records
	ghosts  map[*registry.Record]*body // see bequeath
	lastID  uint64
	left    []*body // bodies no name leads to, still being read
	twins   []*body

	strangers []stranger
	// investigated is how many files wait for a worker to find out who they are.
	investigated int
	overdue      []*registry.Record
	archive      []*fileid.State // a buffer of retain
	spare        []*turn
	compared     []byte // the buffers of compareBuffers
	polls        uint64
	fresh        bool // no poll was completed and no State was loaded: start_at applies
	handles      handleList
	open         int               // length of handles
	handleCap    int               // lowered when the process runs out of descriptors
	troubles     map[string]string // paths that cannot be read, and why it was said
	saved        time.Time
	largeDue     time.Time // since when a large snapshot waits to be saved; zero: none does

	hints       hints
	backlogAt   time.Time // when a backlog was read last
	hasHeadroom bool

	attempts attempts

	queue   queue
	idle    int
	busy    int
	turns   chan *turn
	reports chan report

	call, pace             context.Context
	cancelCall, cancelPace context.CancelFunc
}

// New makes a loop. states are what the checkpoint held; fresh says that there
// never was one, so that start_at applies.
func New(c Config, r Rooms, states []*fileid.State, fresh bool) *Loop {
	l := &Loop{
		Config:    c,
		Rooms:     r,
		byName:    map[string]int{},
		bodies:    map[fileid.Locator]*body{},
		owners:    map[*registry.Record]*body{},
		byID:      map[uint64]*body{},
		ghosts:    map[*registry.Record]*body{},
		troubles:  map[string]string{},
		fresh:     fresh,
		handleCap: c.MaxOpenFiles,
		turns:     make(chan *turn),
		reports:   make(chan report, 4*c.Workers),
	}
	for _, s := range states {
		l.Registry.Add(s)
	}
	l.call, l.cancelCall = context.WithCancel(context.Background())
	l.pace, l.cancelPace = context.WithCancel(context.Background())
	return l
}

// Run polls until ctx is done, then stops in good order: retries end, calls in
// flight are waited for, what was accepted is saved, files are closed. The
// context save bounds that.
func (l *Loop) Run(ctx, save context.Context) error {
	workersDone := l.startWorkers()
	ticker := time.NewTicker(l.PollInterval)
	defer ticker.Stop()
	var results <-chan checkpoint.SaveResult
	if l.Store != nil {
		results = l.Store.Results()
	}
	var ready <-chan struct{}
	if l.Pipeline != nil {
		ready = l.Pipeline.Ready()
	}
	defer context.AfterFunc(ctx, l.Matcher.Interrupt)()
	l.poll()
	for {
		select {
		case <-ctx.Done():
			return l.shutdown(save, workersDone)
		case <-ticker.C:
			l.poll()
		case r := <-l.reports:
			l.apply(r)
			l.dispatch()
			l.saveBetweenPolls()
		case <-ready:
			l.queue.drain = true
			l.dispatch()
		case r := <-results:
			l.saveDone(r)
		}
	}
}

// saveBetweenPolls saves when polls are far apart and much was accepted since,
// so that a kill does not repeat all of it.
func (l *Loop) saveBetweenPolls() {
	if l.Store != nil && l.PollInterval > time.Second && l.Now().Sub(l.saved) >= time.Second {
		l.save()
	}
}

// largeSaveWaits is how long the save of a large snapshot may wait for a pause in
// reading. Storing it takes several times its size for a moment, which is better
// taken when reading has no garbage about.
const largeSaveWaits = time.Second

func (l *Loop) save() {
	if l.Store == nil {
		return
	}
	now := l.Now()
	if l.Store.LargeSnapshotDue() && l.queue.waiting() && !l.Store.Saving() {
		if l.largeDue.IsZero() {
			l.largeDue = now
		}
		if now.Sub(l.largeDue) < largeSaveWaits {
			return
		}
	}
	l.largeDue = time.Time{}
	l.saved = now
	l.Store.Save()
}

func (l *Loop) saveDone(r checkpoint.SaveResult) {
	l.Store.Applied(r)
	l.Observer.saved(r, l.Logger)
}
