package filelogreceiver

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"go.opentelemetry.io/collector/confmap"
)

// Unmarshal reads the configuration. It refuses numbers that the type of their key
// cannot hold, which would silently become other numbers, and says of durations
// that cannot be read what was written.
func (c *Config) Unmarshal(conf *confmap.Conf) error {
	faults := refuseNumbers(conf, reflect.TypeFor[Config](), "")
	err := conf.Unmarshal(c)
	inner := errors.Unwrap(err)
	if _, several := inner.(interface{ Unwrap() []error }); several {
		err = inner // without the heading, which the caller gives once more
	}
	return errors.Join(append(faults, err)...)
}

// refuseNumbers tells what is wrong with the numbers of a map and takes these out of
// it, so that they are not reported a second time. path is where typ stands.
func refuseNumbers(conf *confmap.Conf, typ reflect.Type, path string) (faults []error) {
	for field := range fieldsOf(typ) {
		name, _, _ := strings.Cut(field.Tag.Get("mapstructure"), ",")
		key := path + name
		if nested := field.Type; nested.Kind() == reflect.Struct {
			faults = append(faults, refuseNumbers(conf, nested, key+confmap.KeyDelimiter)...)
			continue
		}
		if err := checkNumber(conf.Get(key), field.Type); err != nil {
			faults = append(faults, fmt.Errorf("'%s' %w", strings.ReplaceAll(key, confmap.KeyDelimiter, "."), err))
			conf.Delete(key)
		}
	}
	return faults
}

func fieldsOf(typ reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range typ.NumField() {
			if field := typ.Field(i); field.IsExported() && !yield(field) {
				return
			}
		}
	}
}

// checkNumber tells why value, as it was written, is no value of typ, if typ is one
// of numbers. What is no number at all is left to the decoder.
func checkNumber(value any, typ reflect.Type) error {
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	switch typ.Kind() {
	case reflect.Int, reflect.Int64:
	default:
		return nil
	}
	fits := true
	switch v := value.(type) {
	case string:
		if typ == reflect.TypeFor[time.Duration]() {
			_, err := time.ParseDuration(v)
			return err // with the value
		}
	case float64:
		fits = v >= math.MinInt64 && v < -math.MinInt64 // false for NaN
	case uint64:
		fits = v <= math.MaxInt64
	}
	if fits {
		return nil
	}
	if typ == reflect.TypeFor[time.Duration]() {
		return fmt.Errorf("must be text like 200ms, or a whole number of nanoseconds of at most %d, is %v", int64(math.MaxInt64), value)
	}
	return fmt.Errorf("must be a number of at most %d, is %v", int64(math.MaxInt64), value)
}
