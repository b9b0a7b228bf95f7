package filelogreceiver

import (
	"fmt"

	"go.opentelemetry.io/collector/featuregate"
)

// Feature gates that people have in their command lines. They keep contrib's
// ids, stages and meaning.
const (
	gateAllowFileDeletion          = "filelog.allowFileDeletion"
	gateAllowHeaderMetadataParsing = "filelog.allowHeaderMetadataParsing"
	gateMtimeSortType              = "filelog.mtimeSortType"
	gateRequireExplicitTopN        = "filelog.requireExplicitTopN"
	gateWindowsCaseInsensitive     = "filelog.windows.caseInsensitive"
)

// gateAddDefaultScopeName belongs to contrib's operators, which register it.
const gateAddDefaultScopeName = "pkg.stanza.addDefaultScopeName"

type gateDeclaration struct {
	id, description, since string
	stage                  featuregate.Stage
}

var gateDeclarations = []gateDeclaration{
	{id: gateAllowFileDeletion, stage: featuregate.StageBeta, since: "v0.70.0",
		description: "Permits the key 'delete_after_read'."},
	{id: gateAllowHeaderMetadataParsing, stage: featuregate.StageBeta, since: "v0.73.0",
		description: "Permits the key 'header'."},
	{id: gateMtimeSortType, stage: featuregate.StageBeta, since: "v0.89.0",
		description: "Permits 'sort_type: mtime' in 'ordering_criteria'."},
	{id: gateRequireExplicitTopN, stage: featuregate.StageAlpha, since: "v0.159.0",
		description: "Makes 'ordering_criteria.sort_by' without 'top_n' an error; otherwise an unset 'top_n' means 1."},
	{id: gateWindowsCaseInsensitive, stage: featuregate.StageBeta, since: "v0.142.0",
		description: "Matches 'include' and 'exclude' without regard to case on Windows."},
}

// Gates have to exist before the command line is parsed, so they are registered
// when the package is initialised. Another package of the same binary may want
// the same ids (contrib's file consumer, which registers unconditionally): it
// must come first, and it does. Go initialises packages that are ready in the
// order of their import paths, "github.com/open-telemetry/..." comes before
// "github.com/otelfilelog/...", and the packages it waits for are among those
// that this one waits for.
func init() {
	if err := registerGates(featuregate.GlobalRegistry()); err != nil {
		panic(err) // an invalid declaration above: found by any test
	}
}

// registerGates registers those gates that the registry does not have yet.
func registerGates(registry *featuregate.Registry) error {
	for _, gate := range gateDeclarations {
		if findGate(registry, gate.id) != nil {
			continue
		}
		_, err := registry.Register(gate.id, gate.stage,
			featuregate.WithRegisterDescription(gate.description),
			featuregate.WithRegisterFromVersion(gate.since))
		if err != nil {
			return fmt.Errorf("register feature gate %q: %w", gate.id, err)
		}
	}
	return nil
}

// gateEnabled tells whether a gate is on now. A gate that does not exist is off.
func gateEnabled(id string) bool {
	gate := findGate(featuregate.GlobalRegistry(), id)
	return gate != nil && gate.IsEnabled()
}

func findGate(registry *featuregate.Registry, id string) *featuregate.Gate {
	var found *featuregate.Gate
	registry.VisitAll(func(gate *featuregate.Gate) {
		if gate.ID() == id {
			found = gate
		}
	})
	return found
}
