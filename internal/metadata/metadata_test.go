package metadata

import (
	"context"
	"flag"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"
)

var update = flag.Bool("update", false, "write documentation.md anew from metadata.yaml")

const (
	metadataFile      = "../../metadata.yaml"
	documentationFile = "../../documentation.md"
	moduleFile        = "../../go.mod"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func declared(t *testing.T) *declaration {
	t.Helper()
	content, err := os.ReadFile(metadataFile)
	require.NoError(t, err)
	d, err := parseDeclaration(content)
	require.NoError(t, err)
	return d
}

func TestIdentityIsThatOfMetadataYAML(t *testing.T) {
	d := declared(t)
	assert.Equal(t, d.Type, Type.String())
	assert.Equal(t, d.DeprecatedType, DeprecatedType.String())
	assert.Equal(t, d.ScopeName, ScopeName)
	assert.Equal(t, "receiver", d.Status.Class)
	assert.Equal(t, []string{"logs"}, d.Status.Stability[strings.ToLower(LogsStability.String())])

	module, err := os.ReadFile(moduleFile)
	require.NoError(t, err)
	assert.True(t, strings.HasPrefix(string(module), "module "+ScopeName+"\n"), "the scope name is the module path")
}

func TestInstrumentsAreThoseOfMetadataYAML(t *testing.T) {
	d := declared(t)
	reader := sdkmetric.NewManualReader()
	builder := newBuilder(t, reader)
	defer builder.Shutdown()
	touchAll(t, builder)

	collected := collect(t, reader)
	assert.Len(t, collected, len(d.Telemetry.Metrics))
	for name, want := range d.Telemetry.Metrics {
		got, ok := collected["otelcol_"+name]
		if !assert.True(t, ok, "%s is declared but has no instrument", name) {
			continue
		}
		assert.Equal(t, want.fullDescription(), got.Description, name)
		assert.Equal(t, want.Unit, got.Unit, name)
		assert.Equal(t, want.kind(), kindOf(got.Data), name)
		if want.Histogram != nil {
			points := got.Data.(metricdata.Histogram[float64]).DataPoints
			require.Len(t, points, 1)
			assert.Equal(t, want.Histogram.BucketBoundaries, points[0].Bounds, name)
		}
	}
}

func TestFieldsAreNamedAfterTheirMetric(t *testing.T) {
	d := declared(t)
	for name := range d.Telemetry.Metrics {
		var field strings.Builder
		for part := range strings.SplitSeq(name, "_") {
			field.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
		_, ok := reflect.TypeFor[TelemetryBuilder]().FieldByName(field.String())
		assert.True(t, ok, "%s has no field %s", name, field.String())
	}
}

func TestDeclaredAttributesExistAndAreUsed(t *testing.T) {
	d := declared(t)
	used := map[string]bool{}
	for name, m := range d.Telemetry.Metrics {
		for _, attribute := range m.Attributes {
			assert.Contains(t, d.Attributes, attribute, name)
			used[attribute] = true
		}
		assert.NotContains(t, m.Attributes, "path", "%s: a label per path has no bound", name)
	}
	for attribute := range d.Attributes {
		assert.True(t, used[attribute], "attribute %s is declared and not used", attribute)
	}
}

func TestObservationEndsWithShutdown(t *testing.T) {
	reader := sdkmetric.NewManualReader()
	builder := newBuilder(t, reader)
	require.NoError(t, builder.RegisterFileLogUnreadBytesCallback(func(_ context.Context, o metric.Int64Observer) error {
		o.Observe(30 << 10)
		return nil
	}))
	require.NoError(t, builder.RegisterFileLogOldestUnreadAgeCallback(func(_ context.Context, o metric.Float64Observer) error {
		o.Observe(2.5)
		return nil
	}))

	collected := collect(t, reader)
	assert.EqualValues(t, 30<<10, collected["otelcol_file_log_unread_bytes"].Data.(metricdata.Gauge[int64]).DataPoints[0].Value)
	assert.InDelta(t, 2.5, collected["otelcol_file_log_oldest_unread_age"].Data.(metricdata.Gauge[float64]).DataPoints[0].Value, 0)

	builder.Shutdown()
	assert.Empty(t, collect(t, reader))
	builder.Shutdown() // a second one does no harm
}

func TestDocumentationIsMadeFromMetadataYAML(t *testing.T) {
	want := declared(t).documentation()
	if *update {
		require.NoError(t, os.WriteFile(documentationFile, []byte(want), 0o644))
	}
	got, err := os.ReadFile(documentationFile)
	require.NoError(t, err)
	assert.Equal(t, want, string(got), "run 'make generate'")
}

func TestMistakesInADeclarationAreFound(t *testing.T) {
	for name, content := range map[string]string{
		"a metric of no kind":      "telemetry: {metrics: {a: {unit: s}}}",
		"a metric of two kinds":    "telemetry: {metrics: {a: {unit: s, sum: {value_type: int}, gauge: {value_type: int}}}}",
		"an unknown key":           "telemetry: {metrics: {a: {unit: s, colour: red, sum: {value_type: int}}}}",
		"an unknown value type":    "telemetry: {metrics: {a: {unit: s, sum: {value_type: text}}}}",
		"a metric without a unit":  "telemetry: {metrics: {a: {sum: {value_type: int}}}}",
		"something that isn't map": "- 1",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseDeclaration([]byte(content))
			assert.Error(t, err)
		})
	}
	require.IsType(t, &yaml.TypeError{}, func() error { _, err := parseDeclaration([]byte("- 1")); return err }())
}

func newBuilder(t *testing.T, reader sdkmetric.Reader) *TelemetryBuilder {
	t.Helper()
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	t.Cleanup(func() { assert.NoError(t, provider.Shutdown(context.Background())) })
	settings := componenttest.NewNopTelemetrySettings()
	settings.MeterProvider = provider
	builder, err := NewTelemetryBuilder(settings)
	require.NoError(t, err)
	return builder
}

// touchAll gives every instrument a value, so that it appears when metrics are collected.
func touchAll(t *testing.T, builder *TelemetryBuilder) {
	t.Helper()
	value := reflect.ValueOf(builder)
	for i := range value.Elem().NumField() {
		if !value.Elem().Type().Field(i).IsExported() {
			continue
		}
		ctx := t.Context()
		switch inst := value.Elem().Field(i).Interface().(type) {
		case metric.Int64Counter:
			inst.Add(ctx, 1)
		case metric.Int64UpDownCounter:
			inst.Add(ctx, 1)
		case metric.Float64Histogram:
			inst.Record(ctx, 1)
		case metric.Int64ObservableGauge:
			call(t, value, i, metric.Int64Callback(func(_ context.Context, o metric.Int64Observer) error { o.Observe(1); return nil }))
		case metric.Float64ObservableGauge:
			call(t, value, i, metric.Float64Callback(func(_ context.Context, o metric.Float64Observer) error { o.Observe(1); return nil }))
		default:
			t.Fatalf("no rule for an instrument of type %T", inst)
		}
	}
}

// call registers cb through the builder's method for its i-th field.
func call(t *testing.T, builder reflect.Value, i int, cb any) {
	t.Helper()
	method := builder.MethodByName("Register" + builder.Elem().Type().Field(i).Name + "Callback")
	require.True(t, method.IsValid(), "an observable without its Register method")
	require.True(t, method.Call([]reflect.Value{reflect.ValueOf(cb)})[0].IsNil())
}

func collect(t *testing.T, reader sdkmetric.Reader) map[string]metricdata.Metrics {
	t.Helper()
	var data metricdata.ResourceMetrics
	require.NoError(t, reader.Collect(t.Context(), &data))
	found := map[string]metricdata.Metrics{}
	for _, scope := range data.ScopeMetrics {
		assert.Equal(t, ScopeName, scope.Scope.Name)
		for _, m := range scope.Metrics {
			found[m.Name] = m
		}
	}
	return found
}

func kindOf(data metricdata.Aggregation) metricKind {
	switch d := data.(type) {
	case metricdata.Sum[int64]:
		return metricKind{kind: "Sum", value: "int", monotonic: d.IsMonotonic}
	case metricdata.Gauge[int64]:
		return metricKind{kind: "Gauge", value: "int"}
	case metricdata.Gauge[float64]:
		return metricKind{kind: "Gauge", value: "double"}
	case metricdata.Histogram[float64]:
		return metricKind{kind: "Histogram", value: "double"}
	default:
		return metricKind{}
	}
}

func TestInstrumentsWithoutTelemetryCostNothing(t *testing.T) {
	builder, err := NewTelemetryBuilder(componenttest.NewNopTelemetrySettings())
	require.NoError(t, err)
	ctx := t.Context()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		builder.FileLogRecords.Add(ctx, 1)
		builder.FileLogReadBytes.Add(ctx, 226)
	}))
	assert.Equal(t, component.StabilityLevelBeta, LogsStability)
}
