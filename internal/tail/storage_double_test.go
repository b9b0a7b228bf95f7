package tail

import (
	"context"
	"errors"
	"maps"
	"sync"

	"go.opentelemetry.io/collector/extension/xextension/storage"
)

var errDead = errors.New("the process was killed")

// memoryStorage is a storage client in memory. After a kill nothing more is
// written to it.
type memoryStorage struct {
	mu     sync.Mutex
	values map[string][]byte
	dead   bool
}

func newMemoryStorage() *memoryStorage { return &memoryStorage{values: map[string][]byte{}} }

// kill makes all later writes fail and returns what is stored.
func (m *memoryStorage) kill() *memoryStorage {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dead = true
	return &memoryStorage{values: maps.Clone(m.values)}
}

func (m *memoryStorage) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], nil
}

func (m *memoryStorage) Set(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	m.values[key] = append([]byte{}, value...)
	return nil
}

func (m *memoryStorage) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errDead
	}
	delete(m.values, key)
	return nil
}

func (m *memoryStorage) Batch(ctx context.Context, operations ...*storage.Operation) error {
	for _, o := range operations {
		var err error
		switch o.Type {
		case storage.Get:
			o.Value, err = m.Get(ctx, o.Key)
		case storage.Set:
			err = m.Set(ctx, o.Key, o.Value)
		case storage.Delete:
			err = m.Delete(ctx, o.Key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *memoryStorage) Close(context.Context) error { return nil }
