package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/otelfilelog/filelogreceiver/internal/fileid"
)

// place is where in an inventory a State is.
type place struct {
	operator *stored
	slot     int // of the archive; -1: among the known ones
	index    int
	state    *fileid.State
	log      string // the path under which the file was asked for, if it was one
}

// id is the short name of a place: "3" is the third known State, "a0.3" the third
// one in the archive slot 0. It holds as long as what is stored does not change.
func (p place) id() string {
	if p.slot < 0 {
		return strconv.Itoa(p.index + 1)
	}
	return fmt.Sprintf("a%d.%d", p.slot, p.index+1)
}

// origin tells in which stored value a State was found.
func (p place) origin() string {
	if p.slot >= 0 {
		return "archive slot " + strconv.Itoa(p.slot)
	}
	for _, s := range p.operator.FromDelta {
		if s == p.state {
			return "progress"
		}
	}
	return p.operator.Format
}

// path is where the file is looked for: where it was seen last, or where it was
// asked for if that is not stored.
func (p place) path() string {
	if p.state.Path == "" {
		return p.log
	}
	return p.state.Path
}

// places are all States of an operator.
func (o *stored) places() []place {
	var all []place
	for i, s := range o.Known {
		all = append(all, place{operator: o, slot: -1, index: i, state: s})
	}
	for slot, states := range o.Archive {
		for i, s := range states {
			all = append(all, place{operator: o, slot: slot, index: i, state: s})
		}
	}
	return all
}

// choose finds the one State that a name means: the path where the file was seen
// last, an id, or the path of a log file whose beginning is that of a State of
// which no path is stored, as upstream's are.
func (v *inventory) choose(name string) (place, error) {
	var byPath, byID, byContent []place
	longest := 1
	head := headOf(name)
	for _, o := range v.operators {
		for _, p := range o.places() {
			switch f := p.state.Fingerprint; {
			case p.state.Path == name:
				byPath = append(byPath, p)
			case p.id() == name:
				byID = append(byID, p)
			case p.state.Path == "" && f.Len() >= longest && f.IsPrefixOf(head):
				if f.Len() > longest {
					byContent, longest = nil, f.Len()
				}
				p.log = name
				byContent = append(byContent, p)
			}
		}
	}
	for _, found := range [][]place{byPath, byID, byContent} {
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return place{}, fmt.Errorf("%q may be %s; name one by its ID, and with -id where several operators have it", name, namesOf(found))
		}
	}
	return place{}, fmt.Errorf("nothing is stored of %q: it is neither a path nor an ID that 'list -archive' prints, and no state without a path begins like it", name)
}

// namesOf names places for a message.
func namesOf(places []place) string {
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = p.operator.id + " " + p.id()
	}
	return strings.Join(names, ", ")
}
