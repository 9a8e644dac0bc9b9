package codec_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-faster/jx"
	"github.com/ogen-go/ogen/conv"
	"github.com/ogen-go/ogen/middleware"
	"github.com/ogen-go/ogen/uri"
	"github.com/ogen-go/ogen/validate"

	"github.com/callwright/callwright/transport/oas/internal/codec"
)

var objectOfThing = codec.Object{Type: "thing", Members: []string{"name", "size", "tags"}, Required: []uint8{0b00000011}}

type thing struct {
	name string
	size int
	tags []string
}

func (s *thing) Encode(e *jx.Encoder) {
	e.ObjStart()
	e.FieldStart("name")
	e.Str(s.name)
	e.ObjEnd()
}

func (s *thing) Decode(d *jx.Decoder) error {
	return objectOfThing.Decode(d, s == nil, func(d *jx.Decoder, k []byte) (int, error) {
		switch string(k) {
		case "name":
			return 0, codec.DecodeStr(d, &s.name)
		case "size":
			return 1, codec.DecodeInt(d, &s.size)
		case "tags":
			return 2, codec.DecodeStrs(d, &s.tags)
		}
		return -1, d.Skip()
	})
}

func (s *thing) Validate() error {
	var failures codec.Failures
	failures.Add("name", codec.Length(s.name, 2, 3))
	failures.Add("tags", codec.Each(s.tags, func(tag *string) error { return codec.Length(*tag, 0, -1) }))
	return failures.Err()
}

// wantText checks that an error has a text. If the text is empty, there must be no error.
func wantText(t *testing.T, err error, text string) {
	t.Helper()
	got := ""
	if err != nil {
		got = err.Error()
	}
	if got != text {
		t.Errorf("got %q, want %q", got, text)
	}
}

// TestObject checks that decoding an object returns the same errors as ogen's decoders.
func TestObject(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"name":"ab","size":1}`:                  "",
		`{"name":"ab","size":1,"other":[{}]}`:     "",
		`{"name":"ab","size":1,"tags":["a","b"]}`: "",
		`{"tags":[]}`:                     "invalid: name (field required), size (field required)",
		`{"size":1}`:                      "invalid: name (field required)",
		`{"name":"ab"}`:                   "invalid: size (field required)",
		`{"name":"ab","size":1,"other":}`: `decode thing: callback: unexpected byte 125 '}' at 30`,
		`{"name":7,"size":1}`:             `decode thing: callback: decode field "name": unexpected byte 55 '7' at 8`,
		`[]`:                              `decode thing: "{" expected: unexpected byte 91 '[' at 0`,
	} {
		var s thing
		err := s.Decode(jx.DecodeStr(text))
		wantText(t, err, want)
		var failed *validate.Error
		if strings.HasPrefix(want, "invalid") && !errors.As(err, &failed) {
			t.Errorf("%s: got a %T", text, err)
		}
	}
	wantText(t, (*thing)(nil).Decode(jx.DecodeStr(`{}`)), "invalid: unable to decode thing to nil")
}

// TestListsAreReplaced checks that decoding a list discards its earlier elements.
func TestListsAreReplaced(t *testing.T) {
	t.Parallel()
	s := thing{tags: []string{"x", "y", "z"}}
	if err := s.Decode(jx.DecodeStr(`{"name":"ab","size":1,"tags":["a"]}`)); err != nil || !slices.Equal(s.tags, []string{"a"}) {
		t.Errorf("got %q, %v", s.tags, err)
	}
	if err := s.Decode(jx.DecodeStr(`{"name":"ab","size":1,"tags":[]}`)); err != nil || s.tags == nil || len(s.tags) > 0 {
		t.Errorf("got %#v, %v", s.tags, err)
	}
}

// TestChecks checks that validation returns the same errors as ogen's validators.
func TestChecks(t *testing.T) {
	t.Parallel()
	wantText(t, codec.Length("é", 1, 1), "")
	wantText(t, codec.Length("", 1, -1), "string: len 0 less than minimum 1")
	wantText(t, codec.Length("ab", 0, 1), "string: len 2 greater than maximum 1")
	wantText(t, codec.Size(3, 0, 2), "array: len 3 greater than maximum 2")
	wantText(t, codec.Size(3, 0, -1), "")
	wantText(t, codec.Int(5, validate.Int{MaxSet: true, Max: 4}), "int: value 5 greater than 4")
	wantText(t, codec.Float(0.5, validate.Float{MinSet: true, Min: 1}), "float: value 0.500000 less than 1.000000")
	wantText(t, codec.NotNil(true), "nil is invalid value")
	wantText(t, codec.Enum("c", []string{"a", "b"}), "invalid value: c")
	wantText(t, codec.Enum(2, []int{1, 2}), "")
	wantText(t, (&thing{name: "a"}).Validate(), "invalid: name (string: len 1 less than minimum 2)")
	var failures codec.Failures
	failures.AddItem(1, errors.New("wrong"))
	failures.AddItem(2, nil)
	wantText(t, failures.Err(), "invalid: [1] (wrong)")
}

// TestEnums checks that decoding accepts any text, and that only known values can be converted to and from text.
func TestEnums(t *testing.T) {
	t.Parallel()
	type kind string
	known := []kind{"a", "b"}
	var k kind
	for _, text := range []string{"b", "other"} {
		if err := codec.DecodeEnum(jx.DecodeStr(`"`+text+`"`), &k, known); err != nil || string(k) != text {
			t.Errorf("got %q, %v", k, err)
		}
	}
	_, err := codec.EnumText(k, known)
	wantText(t, err, `invalid value: "other"`)
	wantText(t, codec.EnumOf([]byte("x"), &k, known), `invalid value: "x"`)
	if err := codec.EnumOf([]byte("a"), &k, known); err != nil || k != "a" {
		t.Errorf("got %q, %v", k, err)
	}
}

// TestMarshal checks that a second call does not overwrite the result of the first one.
func TestMarshal(t *testing.T) {
	t.Parallel()
	first, err := codec.Marshal(&thing{name: "one"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := codec.Marshal(&thing{name: "two"}); err != nil {
		t.Fatal(err)
	}
	if string(first) != `{"name":"one"}` {
		t.Errorf("got %s", first)
	}
}

// TestReadRequest checks that reading a request returns the same errors as ogen's decoders, and returns the text of a valid body.
func TestReadRequest(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ contentType, body, want string }{
		{"application/json; charset=utf-8", `{"name":"ab","size":1}`, ""},
		{"", `{}`, "parse media type: mime: no media type"},
		{"text/plain", `{}`, "unexpected Content-Type: text/plain"},
		{"application/json", ``, "body required"},
		{"application/json", `{"name":"ab","size":1} 2`, "decode application/json: unexpected trailing data"},
		{"application/json", `{"name":"a","size":1}`, "validate: invalid: name (string: len 1 less than minimum 2)"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(test.body))
		r.Header.Set("Content-Type", test.contentType)
		value, text, closeBody, err := codec.ReadRequest[thing](r)
		wantText(t, err, test.want)
		if err := closeBody(); err != nil {
			t.Error(err)
		}
		if (value == nil) != (err != nil) || err == nil && string(text) != test.body {
			t.Errorf("%s: got %v, %q", test.body, value, text)
		}
	}
}

// TestPathParam checks that a path segment is unescaped, required and validated.
func TestPathParam(t *testing.T) {
	t.Parallel()
	for segment, want := range map[string]string{
		"a%2Fb": "",
		"":      `path: "id": field required`,
		"%zz":   `path: "id": unescape path: invalid URL escape "%zz"`,
		"long":  `path: "id": string: len 4 greater than maximum 3`,
	} {
		var id string
		err := codec.PathParam("id", segment, true, func(d uri.Decoder) error { return codec.DecodeParamText(d, &id) },
			func() error { return codec.Length(id, 0, 3) })
		wantText(t, err, want)
		if err == nil && id != "a/b" {
			t.Errorf("got %q", id)
		}
	}
}

// TestParam checks that an absent parameter is an error only if it is required, and that a parameter with an invalid value is always an
// error.
func TestParam(t *testing.T) {
	t.Parallel()
	query := uri.NewQueryDecoder(map[string][]string{"n": {"7"}, "bad": {"x"}})
	read := func(name string, required bool) (n int, err error) {
		config := uri.QueryParameterDecodingConfig{Name: name, Style: uri.QueryStyleForm, Explode: true}
		err = codec.Param(query, config, required, func(d uri.Decoder) error {
			return codec.SetParam(d, func(value int) { n = value }, conv.ToInt)
		}, func() error { return nil })
		return n, err
	}
	if n, err := read("n", true); n != 7 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if n, err := read("absent", false); n != 0 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	if _, err := read("absent", true); err == nil {
		t.Error("a required parameter may be absent")
	}
	if _, err := read("bad", false); err == nil {
		t.Error("a wrong value is taken")
	}
}

// TestParamIsJSON checks that a boolean and a number in a URL must be written as in JSON.
func TestParamIsJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][2]bool{ // whether the text is a boolean, and whether it is a number
		"true": {true, false}, "false": {true, false}, "1": {false, true}, "-1.5e3": {false, true}, "0": {false, true},
		"T": {}, "TRUE": {}, "0x1p3": {}, "Inf": {}, "NaN": {}, "+1": {}, "01": {}, "1_000": {}, "": {}, " 1": {},
	} {
		decoder := func() uri.Decoder {
			return uri.NewPathDecoder(uri.PathDecoderConfig{Param: "p", Value: text, Style: uri.PathStyleSimple})
		}
		var flag bool
		var number float64
		isBool := codec.DecodeParam(decoder(), &flag, conv.ToBool) == nil
		isNumber := codec.DecodeParam(decoder(), &number, conv.ToFloat64) == nil
		if got := [2]bool{isBool, isNumber}; got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// TestHandle checks that an operation receives its arguments with and without middleware.
func TestHandle(t *testing.T) {
	t.Parallel()
	unpack := func(parameters middleware.Parameters) (id string) {
		codec.Unpack(parameters, "id", "path", true, &id)
		return id
	}
	operation := func(_ context.Context, body int, id string) (string, error) { return strings.Repeat(id, body), nil }
	for _, m := range []middleware.Middleware{nil, func(r middleware.Request, next middleware.Next) (middleware.Response, error) { return next(r) }} {
		got, err := codec.HandleBodyParams(m, middleware.Request{
			Context: t.Context(), Body: 2, Params: middleware.Parameters{{Name: "id", In: "path"}: "x"},
		}, unpack, operation)
		if got != "xx" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
}
