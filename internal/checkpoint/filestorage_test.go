package checkpoint

import (
	"context"
	"os"
	"testing"

	"github.com/open-telemetry/opentelemetry-collector-contrib/extension/storage/filestorage"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// fileStorage opens the Collector's file_storage in a directory and returns the
// options that a receiver filelog/name makes of it.
func fileStorage(t testing.TB, directory string) (Options, func()) {
	ctx := context.Background()
	factory := filestorage.NewFactory()
	config := factory.CreateDefaultConfig().(*filestorage.Config)
	config.Directory = directory
	made, err := factory.Create(ctx, extension.Settings{
		ID: component.NewID(factory.Type()), TelemetrySettings: componenttest.NewNopTelemetrySettings(),
	}, config)
	require.NoError(t, err)
	require.NoError(t, made.Start(ctx, componenttest.NewNopHost()))
	clients := make([]storage.Client, 2)
	for i, name := range []string{"", keyProgress} {
		clients[i], err = made.(storage.Extension).GetClient(ctx, component.KindReceiver, component.MustNewIDWithName("filelog", "mine"), name)
		require.NoError(t, err)
	}
	return Options{Client: clients[0], Progress: clients[1], Prefix: prefix}, func() {
		for _, c := range clients {
			require.NoError(t, c.Close(ctx))
		}
		require.NoError(t, made.Shutdown(ctx))
	}
}

func TestStatesOutliveARestartInTheFileStorage(t *testing.T) {
	directory := t.TempDir()
	var states []*fileid.State
	for n := range 50 {
		states = append(states, state(n))
	}
	for round := range 4 {
		o, closeClients := fileStorage(t, directory)
		o.ArchiveSlots = 3
		s, loaded, err := Open(context.Background(), o)
		require.NoError(t, err)
		require.Empty(t, loaded.Damaged)
		if round == 0 {
			for _, state := range states {
				s.Add(state)
			}
		} else {
			requireSame(t, states, loaded.States)
			states = loaded.States
		}
		require.NoError(t, saveIfNeeded(s))
		for n := range states {
			if n%3 == round%3 {
				advance(states[n], 999)
				s.Changed(states[n])
			}
		}
		require.NoError(t, save(t, s).Err)
		require.Len(t, s.FindArchived(headOf(1000+round-1)), min(round, 1))
		gone := state(1000 + round)
		s.Add(gone)
		s.Archive([]*fileid.State{gone})
		settle(t, s)
		if round%2 == 0 {
			require.NoError(t, s.Close(context.Background()))
		} else {
			abandon(s)
		}
		closeClients()
	}
	files, err := os.ReadDir(directory)
	require.NoError(t, err)
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	assert.Equal(t, []string{"receiver_filelog_mine", "receiver_filelog_mine_progress"}, names)
}

func saveIfNeeded(s *Store) error {
	if !s.Save() {
		return nil
	}
	r := <-s.Results()
	s.Applied(r)
	return r.Err
}

// abandon ends a Store as a kill does: nothing more is saved.
func abandon(s *Store) {
	s.closed = true
	s.saver.cancel()
	close(s.saver.jobs)
	<-s.saver.done
}

// BenchmarkFileStorage is a whole save through the real extension.
func BenchmarkFileStorage(b *testing.B) {
	for name, advanced := range map[string]int{"advanced=10": 10, "advanced=1000": 1000} {
		b.Run("files=1000/"+name, func(b *testing.B) {
			o, closeClients := fileStorage(b, b.TempDir())
			b.Cleanup(closeClients) // after the Store, which openBenchmark closes
			states := benchmarkStates(1000)
			s := openBenchmark(b, states, o)
			b.ReportAllocs()
			for b.Loop() {
				for _, state := range states[:advanced] {
					benchmarkAdvance(state, 300)
					s.Changed(state)
				}
				save(b, s)
			}
		})
	}
}
