package checkpoint

import (
	"context"
	"maps"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
)

// memoryStorage is a storage client in memory whose calls a test can see and
// break.
type memoryStorage struct {
	mu     sync.Mutex
	values map[string][]byte
	calls  []string // "set key", "get key", "delete key"
	// before is called before each call; an error is the call's result.
	before func(operation, key string, value []byte) error
}

var _ storage.Client = (*memoryStorage)(nil)

func newMemoryStorage() *memoryStorage { return &memoryStorage{values: map[string][]byte{}} }

func (m *memoryStorage) call(operation, key string, value []byte) error {
	m.calls = append(m.calls, operation+" "+key)
	if m.before == nil {
		return nil
	}
	return m.before(operation, key, value)
}

func (m *memoryStorage) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("get", key, nil); err != nil {
		return nil, err
	}
	v, ok := m.values[key]
	if !ok {
		return nil, nil
	}
	return append([]byte{}, v...), nil
}

func (m *memoryStorage) Set(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("set", key, value); err != nil {
		return err
	}
	m.values[key] = append([]byte{}, value...)
	return nil
}

func (m *memoryStorage) Delete(_ context.Context, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.call("delete", key, nil); err != nil {
		return err
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

// clone is the storage as a crash now would leave it.
func (m *memoryStorage) clone() *memoryStorage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return &memoryStorage{values: maps.Clone(m.values)}
}

func (m *memoryStorage) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for k := range m.values {
		keys = append(keys, k)
	}
	return keys
}

// takeCalls returns the calls since the last takeCalls.
func (m *memoryStorage) takeCalls() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := m.calls
	m.calls = nil
	return calls
}

// save saves and waits until it is done.
func save(t testing.TB, s *Store) SaveResult {
	t.Helper()
	require.True(t, s.Save(), "a save has to start")
	r := <-s.Results()
	s.Applied(r)
	return r
}
