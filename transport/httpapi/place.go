package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/callwright/callwright/transport/httpapi/internal/wire"
)

// place is a value in a JSON body: its path with list indexes, and the range of its text. If the value is an object at the searched path,
// members contains its members.
type place struct {
	path       string
	start, end int64
	members    map[string]json.RawMessage
}

// placeOf returns the path of the first value that is at the path formed by names and for which the function fits returns true. The result
// contains list indexes, which the generated decoder omits. If no value is found, the result is the path without indexes.
func placeOf(body []byte, names []string, fits func(p place) bool) string {
	var found []place
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // a number may exceed every type
	if findPlaces(dec, place{}, names, false, &found) == nil {
		if i := slices.IndexFunc(found, fits); i >= 0 {
			return found[i].path
		}
	}
	path := ""
	for _, name := range names {
		path = wire.Join(path, name)
	}
	return path
}

// findPlaces reads the next value of a decoder, and adds the values at the path formed by names, relative to this value, to found. Inner
// values come first. A list matches through its elements, but a list directly within a list is not searched.
func findPlaces(dec *json.Decoder, at place, names []string, inList bool, found *[]place) error {
	at.start = dec.InputOffset()
	token, err := dec.Token()
	if err != nil {
		return err
	}
	opening, nested := token.(json.Delim)
	for i := 0; nested && dec.More(); i++ {
		within, rest := place{path: fmt.Sprintf("%s[%d]", at.path, i)}, names
		look, value := opening == '[' && !inList, new(json.RawMessage)
		var name string
		if opening == '{' {
			key, err := dec.Token()
			if err != nil {
				return err
			}
			if look = len(names) > 0 && key == names[0]; look {
				within.path, rest = wire.Join(at.path, names[0]), names[1:]
			}
			name = key.(string)
		}
		if look {
			err = findPlaces(dec, within, rest, opening == '[', found)
		} else {
			err = dec.Decode(value)
		}
		if opening == '{' && len(names) == 0 {
			if at.members == nil {
				at.members = map[string]json.RawMessage{}
			}
			at.members[name] = *value
		}
		if err != nil {
			return err
		}
	}
	if nested {
		if _, err := dec.Token(); err != nil {
			return err
		}
	}
	if at.end = dec.InputOffset(); len(names) == 0 {
		*found = append(*found, at)
	}
	return nil
}
