package batch

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// setValue writes v, a value as operators make them, into an empty pdata
// value. nil stays empty; what pdata has no kind for becomes its text form.
func setValue(dest pcommon.Value, v any) {
	switch v := v.(type) {
	case nil:
	case string:
		dest.SetStr(v)
	case bool:
		dest.SetBool(v)
	case int64:
		dest.SetInt(v)
	case int:
		dest.SetInt(int64(v))
	case float64:
		dest.SetDouble(v)
	case map[string]any:
		setMap(dest.SetEmptyMap(), v)
	case []any:
		items := dest.SetEmptySlice()
		items.EnsureCapacity(len(v))
		for _, item := range v {
			setValue(items.AppendEmpty(), item)
		}
	case []string:
		items := dest.SetEmptySlice()
		items.EnsureCapacity(len(v))
		for _, item := range v {
			items.AppendEmpty().SetStr(item)
		}
	case []byte:
		dest.SetEmptyBytes().FromRaw(v)
	case int32:
		dest.SetInt(int64(v))
	case int16:
		dest.SetInt(int64(v))
	case int8:
		dest.SetInt(int64(v))
	case uint64:
		dest.SetInt(int64(v)) // two's complement above 2^63-1: pdata has no unsigned kind
	case uint32:
		dest.SetInt(int64(v))
	case uint16:
		dest.SetInt(int64(v))
	case uint8:
		dest.SetInt(int64(v))
	case uint:
		dest.SetInt(int64(v))
	case float32:
		dest.SetDouble(float64(v))
	default:
		dest.SetStr(fmt.Sprintf("%v", v))
	}
}

// setMap writes m into an empty pdata map.
func setMap(dest pcommon.Map, m map[string]any) {
	if len(m) == 0 {
		return
	}
	dest.EnsureCapacity(len(m))
	for k, v := range m {
		if s, ok := v.(string); ok { // by far the most frequent kind
			dest.PutStr(k, s)
			continue
		}
		setValue(dest.PutEmpty(k), v)
	}
}
