package filelogreceiver

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"

	"github.com/otelfilelog/filelogreceiver/internal/batch"
	"github.com/otelfilelog/filelogreceiver/internal/checkpoint"
	"github.com/otelfilelog/filelogreceiver/internal/deliver"
	"github.com/otelfilelog/filelogreceiver/internal/framing"
	"github.com/otelfilelog/filelogreceiver/internal/match"
	"github.com/otelfilelog/filelogreceiver/internal/registry"
	"github.com/otelfilelog/filelogreceiver/internal/source"
	"github.com/otelfilelog/filelogreceiver/internal/tail"
)

// maxStates bounds the memory for files that were seen: about 2 kB each with
// the default fingerprint size.
const maxStates = 1 << 18

// watchFrom is from how many files on directories are watched: below, looking
// at each file costs next to nothing.
const watchFrom = 64

// logsReceiver builds the rooms, connects them, and takes them down again. What
// happens to a line is told in internal/tail.
type logsReceiver struct {
	cfg  *Config
	set  receiver.Settings
	next consumer.Logs

	rooms    tail.Rooms
	pipeline *batch.Pipeline
	header   *batch.HeaderParser
	storage  clients
	meters   *instruments

	stop context.CancelFunc
	save context.CancelFunc
	done chan error
}

// newReceiver checks all that can be checked without a host.
func newReceiver(set receiver.Settings, cfg *Config, next consumer.Logs) (*logsReceiver, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &logsReceiver{cfg: cfg, set: set, next: next}
	processing := cfg.processing(set.BuildInfo.Version)
	constants := processing.Constants()
	r.rooms.Batches = &constants
	var err error
	if r.rooms.Framing, err = framing.New(cfg.framing()); err != nil {
		return nil, err
	}
	if r.rooms.Matcher, err = match.New(cfg.matching()); err != nil {
		return nil, err
	}
	if !processing.IsDirect() {
		if r.pipeline, err = processing.Build(set.TelemetrySettings); err != nil {
			return nil, err
		}
	}
	if cfg.Header != nil {
		header := cfg.header()
		if r.header, err = header.Build(set.TelemetrySettings); err != nil {
			return nil, errors.Join(err, r.abandonPipeline())
		}
	}
	return r, nil
}

// Start loads what is remembered, starts the operators and begins to poll.
func (r *logsReceiver) Start(ctx context.Context, host component.Host) (err error) {
	r.set.Logger.Info("Starting stanza receiver")
	defer func() {
		if err != nil {
			err = errors.Join(err, r.takeDown(ctx))
		}
	}()
	if r.storage, err = openStorage(ctx, host, r.cfg.StorageID, r.set.ID, r.set.Logger); err != nil {
		return fmt.Errorf("storage client: %w", err)
	}
	store, loaded, err := r.openStore(ctx)
	if err != nil {
		return fmt.Errorf("start stanza: %w", err)
	}
	if loaded.Resumed {
		r.set.Logger.Info("Resuming from previously known offset(s). 'start_at' setting is not applicable.")
	}
	if err := r.startOperators(host); err != nil {
		return fmt.Errorf("start stanza: %w", err)
	}
	status := newStatus(host)
	if r.meters, err = newInstruments(r.set.TelemetrySettings, len(loaded.Damaged)); err != nil {
		return err
	}
	target, err := r.target(status)
	if err != nil {
		return err
	}
	r.rooms.Registry = registry.New(maxStates)
	r.rooms.Layer = source.OS
	r.rooms.Pipeline = r.pipeline
	r.rooms.Target = target
	r.rooms.Store = store
	r.rooms.Observer = tail.NewObserver(r.meters, status.report, r.set.Logger)
	r.rooms.Logger = r.set.Logger
	r.rooms.Now = time.Now
	if r.header != nil {
		r.rooms.Header = r.header
	}
	if err := r.meters.observe(r.rooms.Observer.Lag); err != nil {
		return err
	}
	r.pipeline = nil // the loop's from here on
	fresh := !loaded.Resumed && len(loaded.Damaged) == 0
	r.run(tail.New(r.cfg.tailing(store != nil), r.rooms, loaded.States, fresh))
	return nil
}

// run lets the loop run beside the Collector.
func (r *logsReceiver) run(loop *tail.Loop) {
	var polling, saving context.Context
	polling, r.stop = context.WithCancel(context.Background())
	saving, r.save = context.WithCancel(context.Background())
	r.done = make(chan error, 1)
	go func() { r.done <- loop.Run(polling, saving) }()
}

// Shutdown ends polling, waits for what is under way, saves and closes. ctx
// bounds the last save.
func (r *logsReceiver) Shutdown(ctx context.Context) error {
	r.set.Logger.Info("Stopping stanza receiver")
	var err error
	if r.done != nil {
		r.stop()
		unbind := context.AfterFunc(ctx, r.save)
		err = <-r.done
		unbind()
		r.save()
		r.rooms.Target.Outage.Stop()
		r.done = nil
	}
	return errors.Join(err, r.takeDown(ctx))
}

// takeDown gives back what Start has taken, as far as it came.
func (r *logsReceiver) takeDown(ctx context.Context) error {
	errs := []error{r.abandonPipeline()}
	if r.header != nil {
		errs = append(errs, r.header.Stop())
		r.header = nil
	}
	if r.meters != nil {
		r.meters.shutdown()
		r.meters = nil
	}
	errs = append(errs, r.storage.close(ctx))
	return errors.Join(errs...)
}

// abandonPipeline gives up the operators, unless they are the loop's, which stops
// them.
func (r *logsReceiver) abandonPipeline() error {
	if r.pipeline == nil {
		return nil
	}
	err := r.pipeline.Abandon()
	r.pipeline = nil
	return err
}

func (r *logsReceiver) startOperators(host component.Host) error {
	if r.pipeline != nil {
		if err := r.pipeline.Start(host, r.storage.persister()); err != nil {
			return err
		}
	}
	if r.header != nil {
		return r.header.Start()
	}
	return nil
}

// openStore loads the checkpoint; without a storage there is none.
func (r *logsReceiver) openStore(ctx context.Context) (*checkpoint.Store, checkpoint.Loaded, error) {
	if r.storage.main == nil {
		return nil, checkpoint.Loaded{}, nil
	}
	return checkpoint.Open(ctx, checkpoint.Options{
		Client:           r.storage.main,
		Progress:         r.storage.progress,
		Prefix:           r.cfg.storagePrefix(),
		HashFingerprints: r.cfg.FingerprintStorage == fingerprintStorageHash,
		ArchiveSlots:     max(r.cfg.PollsToArchive, 0),
		Logger:           r.set.Logger,
	})
}

// target is where batches go.
func (r *logsReceiver) target(status *status) (*deliver.Target, error) {
	report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID:             r.set.ID,
		ReceiverCreateSettings: r.set,
	})
	if err != nil {
		return nil, err
	}
	retry := deliver.Retry(r.cfg.RetryOnFailure)
	outage := deliver.NewOutage(r.set.Logger, func(err error) { status.report("delivery", err) })
	outage.Again = retry.Again(r.cfg.PollInterval)
	return &deliver.Target{
		Next:      r.next,
		Reporter:  report,
		Retry:     retry,
		Outage:    outage,
		Logger:    r.set.Logger,
		OnDropped: r.meters.dropped,
		Pause:     deliver.Sleep,
	}, nil
}

// tailing is the part of the configuration that the loop works by.
func (c *Config) tailing(stored bool) tail.Config {
	t := tail.Config{
		PollInterval:    c.PollInterval,
		FlushPeriod:     c.ForceFlushPeriod,
		FingerprintSize: int(c.FingerprintSize),
		StartAtEnd:      c.StartAt == startAtEnd,
		Compression:     tail.Compression(c.Compression),
		OnTruncate:      tail.OnTruncate(c.OnTruncate),
		DeleteAfterRead: c.DeleteAfterRead,
		LockFiles:       c.AcquireFSLock,
		DropCache:       c.FileCacheAdvise,
		Archiving:       stored && c.PollsToArchive > 0,
		Attributes: tail.FileAttributes{
			Name:           c.IncludeFileName,
			Path:           c.IncludeFilePath,
			NameResolved:   c.IncludeFileNameResolved,
			PathResolved:   c.IncludeFilePathResolved,
			OwnerName:      c.IncludeFileOwnerName,
			OwnerGroupName: c.IncludeFileOwnerGroupName,
			Permissions:    c.IncludeFilePermissions,
		},
		WatchFrom:       watchFrom,
		MaxOpenFiles:    min(c.MaxConcurrentFiles, source.HandleLimit()),
		Workers:         c.Workers,
		MaxBatchRecords: c.MaxBatchSize,
		MaxBatchBytes:   int(c.MaxBatchBytes),
	}
	if t.Workers == 0 {
		t.Workers = runtime.GOMAXPROCS(0)
	}
	if c.MaxBatches > 0 {
		t.FilesPerPoll = max(c.MaxConcurrentFiles/2, 1) * c.MaxBatches
	}
	return t
}
