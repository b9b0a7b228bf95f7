package checkpoint

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"
)

// Causes of damage.
var (
	// ErrUnknownFormat is the cause when a value is of no format that was ever
	// written under its key.
	ErrUnknownFormat = errors.New("neither protobuf nor JSON of known files")
	// ErrMalformed is the cause when bytes do not follow the format.
	ErrMalformed = errors.New("malformed")
	// ErrChecksum is the cause when bytes are not those that were written.
	ErrChecksum = errors.New("checksum does not match")
	// ErrIncomplete is the cause when less is there than was written.
	ErrIncomplete = errors.New("incomplete")
	// ErrNegativePosition is the cause when an offset or a count is below zero;
	// it is taken as zero.
	ErrNegativePosition = errors.New("negative position")
	// ErrNewerVersion is the cause when a newer version wrote a value.
	ErrNewerVersion = errors.New("written by a newer version")
	// ErrMissing is the cause when a value is not there that another one needs.
	ErrMissing = errors.New("missing")
	// ErrOutdated is the cause when a value is older than what another one needs:
	// an older copy of the storage was put back, or the last writes were lost.
	ErrOutdated = errors.New("older than the progress saved on top of it")
	// ErrHeaderAttributes is the cause when the attributes of a very old JSON
	// value cannot be moved to where they are expected today.
	ErrHeaderAttributes = errors.New("header attributes of an unexpected format")
)

// DamagedError tells that a stored value could not be used, or not wholly.
type DamagedError struct {
	Key         string // under which the value is stored
	Offset      int    // in the value, of the first damage
	Err         error  // the first damage
	Salvaged    int    // States that could be used
	Lost        int    // records that could not; 0 if their number is not known
	Quarantined bool   // the bytes are kept under Key + ".damaged"
}

// Error says what is damaged, where, and what became of it.
func (e *DamagedError) Error() string {
	return fmt.Sprintf("stored value %q is damaged at byte %d: %v (%d files salvaged)", e.Key, e.Offset, e.Err, e.Salvaged)
}

// Unwrap gives the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// damage is a DamagedError together with the bytes and the client they are from.
type damage struct {
	*DamagedError
	value  []byte
	client storage.Client
}

func damagedErrors(found []damage) []*DamagedError {
	if len(found) == 0 {
		return nil
	}
	all := make([]*DamagedError, len(found))
	for i, d := range found {
		all[i] = d.DamagedError
	}
	return all
}

// quarantine keeps the damaged bytes, each under a key of its own, and says so
// once. A failure to keep them is part of the message, nothing more: the States
// are worth more than the evidence.
func quarantine(ctx context.Context, o Options, found []damage) {
	if len(found) == 0 {
		return
	}
	var failures error
	keys := make([]string, len(found))
	causes := make([]string, len(found))
	salvaged := 0
	for i, d := range found {
		keys[i] = d.Key
		causes[i] = d.Error()
		salvaged += d.Salvaged
		if len(d.value) == 0 {
			continue
		}
		if err := d.client.Set(ctx, d.Key+quarantineSuffix, d.value); err != nil {
			failures = errors.Join(failures, fmt.Errorf("keep damaged %q: %w", d.Key, err))
			continue
		}
		d.Quarantined = true
	}
	o.Logger.Error("Stored state is damaged; what is whole of it is used, files without a state are read from the beginning, and the damaged bytes are kept under the key with the suffix",
		zap.Strings("keys", keys),
		zap.Strings("causes", causes),
		zap.Int("files_salvaged", salvaged),
		zap.String("suffix", quarantineSuffix),
		zap.NamedError("quarantine_error", failures))
}
