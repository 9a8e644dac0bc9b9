package loa

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"
)

// checkMembers checks that the JSON of evidence is UTF-8 and contains only known members, each at most once. encoding/json would accept
// repeated names, of which the last wins, and names in another case.
func checkMembers(raw []byte) error {
	if !utf8.Valid(raw) {
		return errors.New("evidence must be UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	return eachMember(d, namesOf[evidenceJSON](), func(name string) error {
		if name != "events" {
			return skip(d)
		}
		if err := begin(d, '['); err != nil {
			return err
		}
		for d.More() {
			if err := eachMember(d, namesOf[eventJSON](), func(string) error { return skip(d) }); err != nil {
				return err
			}
		}
		return end(d)
	})
}

// namesOf returns the JSON member names of a struct.
func namesOf[T any]() (names []string) {
	for f := range reflect.TypeFor[T]().Fields() {
		names = append(names, f.Tag.Get("json"))
	}
	return names
}

// eachMember reads a JSON object, and calls the function value to read each member's value. It returns an error if a name is not in names
// or is repeated.
func eachMember(d *json.Decoder, names []string, value func(name string) error) error {
	if err := begin(d, '{'); err != nil {
		return err
	}
	var seen []string
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string) // the decoder accepts only strings as names
		switch {
		case !slices.Contains(names, name):
			return fmt.Errorf("evidence must not contain the unknown member %q", name)
		case slices.Contains(seen, name):
			return fmt.Errorf("evidence must have the member %q only once", name)
		}
		seen = append(seen, name)
		if err := value(name); err != nil {
			return err
		}
	}
	return end(d)
}

// begin reads the opening delimiter of an object or an array, and returns an error if it differs from the parameter want.
func begin(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("evidence must have a %s at byte %d", want, d.InputOffset())
	}
	return nil
}

// end reads the closing delimiter of an object or an array.
func end(d *json.Decoder) error {
	_, err := d.Token()
	return err
}

// skip reads and discards a JSON value.
func skip(d *json.Decoder) error {
	var value json.RawMessage
	return d.Decode(&value)
}
