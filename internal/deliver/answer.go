package deliver

import (
	"errors"
	"reflect"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/plog"
)

// answer is what an error of the next consumer says of a batch. Behind that
// consumer there may be several, as when a pipeline has two exporters; the error
// is a list then, with an entry for each that did not accept.
type answer struct {
	permanent bool // none of them would take it when it was offered again
	rejected  bool // at least one of them would not
	lost      int  // records that are gone where most are, of what is permanent

	// rest is what is to be offered again when that is not all of the batch.
	rest    plog.Logs
	partial bool
}

// read makes an answer of err, the error for a batch of that many records.
func read(err error, records int) answer {
	a := answer{permanent: true}
	whole := false // one of those to offer it to again has taken nothing of it
	each(err, false, func(branch error, permanent bool) {
		rest, partial := remainder(branch)
		switch {
		case permanent && partial:
			a.rejected, a.lost = true, max(a.lost, rest.LogRecordCount())
		case permanent:
			a.rejected, a.lost = true, max(a.lost, records)
		case partial && (!a.partial || a.rest == rest):
			a.permanent, a.partial, a.rest = false, true, rest
		default:
			a.permanent, whole = false, true // two remainders are not one batch either
		}
	})
	a.permanent = a.permanent && a.rejected
	if whole {
		a.partial, a.rest = false, plog.Logs{}
	}
	return a
}

// permanentType is the type of which consumererror does not export the name.
// IsPermanent finds it anywhere below an error, also in one entry of a list.
var permanentType = reflect.TypeOf(consumererror.NewPermanent(errors.New("")))

// each calls branch for every entry of the lists that err consists of.
// permanent tells that an error around err makes all of it permanent.
func each(err error, permanent bool, branch func(err error, permanent bool)) {
	if err == nil {
		return
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if list, ok := e.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) > 0 {
			for _, entry := range list.Unwrap() {
				each(entry, permanent, branch)
			}
			return
		}
		permanent = permanent || reflect.TypeOf(e) == permanentType
		if _, ok := e.(consumererror.Logs); ok {
			break // it says what is left, whatever it is made of
		}
	}
	branch(err, permanent || isPermanent(err))
}

// isPermanent tells whether every entry of the lists below err is permanent.
func isPermanent(err error) bool {
	for e := err; e != nil; e = errors.Unwrap(e) {
		if reflect.TypeOf(e) == permanentType {
			return true
		}
		if list, ok := e.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) > 0 {
			for _, entry := range list.Unwrap() {
				if !isPermanent(entry) {
					return false
				}
			}
			return true
		}
	}
	return consumererror.IsPermanent(err)
}

// remainder is what a partial failure left, if err is one.
func remainder(err error) (plog.Logs, bool) {
	var partial consumererror.Logs
	if errors.As(err, &partial) && partial.Data().LogRecordCount() > 0 {
		return partial.Data(), true
	}
	return plog.Logs{}, false
}
