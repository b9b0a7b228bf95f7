package filelogreceiver

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/featuregate"
)

func TestGatesAreRegisteredAtInitialisation(t *testing.T) {
	for _, declared := range gateDeclarations {
		gate := findGate(featuregate.GlobalRegistry(), declared.id)
		if assert.NotNil(t, gate, declared.id) {
			assert.Equal(t, declared.stage, gate.Stage(), declared.id)
			assert.Equal(t, declared.stage == featuregate.StageBeta, gate.IsEnabled(), declared.id)
		}
	}
}

func TestGatesOfAnotherPackageAreUsedAsTheyAre(t *testing.T) {
	registry := featuregate.NewRegistry()
	theirs, err := registry.Register(gateMtimeSortType, featuregate.StageAlpha)
	require.NoError(t, err)

	require.NoError(t, registerGates(registry))
	require.NoError(t, registerGates(registry), "a second time there is nothing left to register")

	assert.Same(t, theirs, findGate(registry, gateMtimeSortType))
	for _, declared := range gateDeclarations {
		assert.NotNil(t, findGate(registry, declared.id), declared.id)
	}
}

func TestAnUnknownGateIsOff(t *testing.T) {
	assert.False(t, gateEnabled("filelog.noSuchGate"))
}
