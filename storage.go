package filelogreceiver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/stanza/operator"
)

// progressStore is the name of the storage client that holds what changed since
// the last snapshot. It has a client of its own because file_storage rewrites
// what stands beside a value whenever the value is set.
const progressStore = "progress"

// clients are the storage clients of one receiver, nil without a storage.
type clients struct {
	main     storage.Client
	progress storage.Client
}

// openStorage gets the clients from the storage extension of that id. When there
// is none for the progress, each save is one of all positions, in the other.
func openStorage(ctx context.Context, host component.Host, id *component.ID, own component.ID, logger *zap.Logger) (clients, error) {
	if id == nil {
		return clients{}, nil
	}
	ext, found := host.GetExtensions()[*id]
	if !found {
		return clients{}, fmt.Errorf("storage extension '%s' not found", id)
	}
	store, ok := ext.(storage.Extension)
	if !ok {
		return clients{}, fmt.Errorf("non-storage extension '%s' found", id)
	}
	own = storedAs(own)
	var c clients
	var err error
	if c.main, err = store.GetClient(ctx, component.KindReceiver, own, ""); err != nil {
		return clients{}, err
	}
	if c.progress, err = store.GetClient(ctx, component.KindReceiver, own, progressStore); err != nil {
		// Contrib's receiver, which needs one client, would start.
		c.progress = nil
		logger.Error("The storage has no place for what changes between two snapshots; each save takes all positions, "+
			"and what was delivered after the last snapshot may come again now",
			zap.Stringer("storage", id), zap.String("storage_name", progressStore), zap.Error(err))
	}
	return c, nil
}

// storedAs is the id under which the storage knows a receiver: the type without
// underscores, so that positions survived when contrib renamed filelog to
// file_log.
func storedAs(id component.ID) component.ID {
	kind := component.MustNewType(strings.ReplaceAll(id.Type().String(), "_", ""))
	return component.NewIDWithName(kind, id.Name())
}

// storagePrefix stands before the keys of the checkpoint.
func (c *Config) storagePrefix() string {
	if c.ID == "" {
		return inputType + "."
	}
	return c.ID + "."
}

// persister is where operators keep what is theirs.
func (c clients) persister() operator.Persister {
	if c.main == nil {
		return storage.NewNopClient()
	}
	return c.main
}

func (c *clients) close(ctx context.Context) error {
	var errs []error
	for _, client := range []storage.Client{c.progress, c.main} {
		if client != nil {
			errs = append(errs, client.Close(ctx))
		}
	}
	*c = clients{}
	return errors.Join(errs...)
}
