package checkpoint

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// Inspection is what a storage holds, for people and tools that look into it.
type Inspection struct {
	// Format is the form of the snapshot: "snapshot" for ours, "upstream protobuf",
	// "upstream json", or "none".
	Format string
	// Generation is the snapshot's, 0 if it is not ours or not whole.
	Generation uint64
	// Parts is in how many values the snapshot lies.
	Parts int
	// HasDelta tells that a delta is stored. FromDelta are the states that are as
	// the delta has them; none if it could not be used.
	HasDelta  bool
	FromDelta []*fileid.State
	// Contents are the states that a receiver would start with.
	Contents
	// Damaged are the values that could not be used, or not wholly.
	Damaged []*DamagedError
}

// Contents are all states that are stored for one operator id.
type Contents struct {
	// Known are the states of files that are followed.
	Known []*fileid.State
	// Archive are the slots of the archive, Last is the one that was written last,
	// -1 if none was.
	Archive [][]*fileid.State
	Last    int
}

// Inspect reads what a receiver with the operator id prefix would read, and
// writes nothing. progress may be nil. It reads slots many archive slots, and
// more if the stored index tells of more.
func Inspect(ctx context.Context, client, progress storage.Client, prefix string, slots int) (Inspection, error) {
	if client == nil {
		return Inspection{}, errors.New("inspect checkpoint: a storage client is needed")
	}
	f, err := load(ctx, source{client: client, progress: progress, prefix: prefix, slots: slots, allSlots: true})
	if err != nil {
		return Inspection{}, err
	}
	i := Inspection{
		Format: "none", Generation: f.generation, Parts: max(f.parts, 1), HasDelta: f.hasDelta, FromDelta: f.fromDelta,
		Contents: Contents{Known: f.states, Archive: f.archive.inOrder(), Last: min(f.archive.last, f.archive.size-1)},
		Damaged:  damagedErrors(f.damage),
	}
	switch {
	case f.json:
		i.Format = "upstream json"
	case f.upstream:
		i.Format = "upstream protobuf"
	case f.ours:
		i.Format = "snapshot"
	}
	return i, nil
}

// inOrder are all slots, those that hold nothing too. There are not many: see source.allSlots.
func (a *archived) inOrder() [][]*fileid.State {
	if a.size == 0 {
		return nil
	}
	slots := make([][]*fileid.State, a.size)
	for slot, states := range a.slots {
		slots[slot] = states
	}
	return slots
}

// QuarantineSuffix ends the keys under which damaged bytes are kept.
const QuarantineSuffix = quarantineSuffix

var (
	storedKey   = regexp.MustCompile(`^(.*\.)(?:knownFiles(\d*|\.[ab]\d+)|knownFilesArchiveIndex)$`)
	progressKey = regexp.MustCompile(`^(.*\.)progress$`)
)

// Prefixes finds the operator id prefixes under which states are stored, each
// with the number of archive slots that Inspect and Rewrite have to be told. keys
// are those of the client, progressKeys those of the client for the delta.
func Prefixes(keys, progressKeys []string) map[string]int {
	slots := map[string]int{}
	for _, key := range keys {
		if m := storedKey.FindStringSubmatch(key); m != nil {
			slot, err := strconv.Atoi(m[2])
			if err != nil || slot > maxSurplus {
				slot = -1
			}
			slots[m[1]] = max(slots[m[1]], slot+1)
		}
	}
	for _, key := range progressKeys {
		if m := progressKey.FindStringSubmatch(key); m != nil {
			slots[m[1]] = max(slots[m[1]], 0)
		}
	}
	return slots
}

// AttributesText is the stored form of a file's attributes: a JSON object in which
// int64 and float64 stay apart.
func AttributesText(attributes map[string]any) []byte { return appendAttributes(nil, attributes) }

// ParseAttributes reads what AttributesText has made.
func ParseAttributes(text []byte) (map[string]any, error) {
	var d attributeDecoder
	attributes, _, err := d.decode(text, true)
	return attributes, err
}
