package memory_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/memstore/internal/memory"
)

// inner and outer contain every kind of memory that a copy could share.
type inner struct {
	Texts []string
	Point *int
}

type outer struct {
	Inner  inner
	Inners []inner
	Pairs  [2]*inner
	Named  map[string]inner
	Any    map[string]any
	Face   any
	Raw    []byte
	At     time.Time
	None   []string
	Empty  []string
	Nobody map[string]int
	Nil    *inner
	NoFace any
}

func aValue() outer {
	n := func() *int { i := 7; return &i }
	in := func() inner { return inner{[]string{"a", "b"}, n()} }
	one, two := in(), in()
	return outer{
		Inner: in(), Inners: []inner{in(), in()}, Pairs: [2]*inner{&one, &two}, Named: map[string]inner{"x": in(), "y": in()},
		Any: map[string]any{"list": []any{"a", map[string]any{"deep": []any{1}}}, "n": 1.5, "nil": nil}, Face: in(),
		Raw: []byte("raw"), At: time.Unix(1, 0), Empty: []string{},
	}
}

// spoil changes all memory that a shallow copy of o would share.
func spoil(o *outer) {
	spoiled := func(in *inner) { in.Texts[0], *in.Point = "spoiled", 0 }
	spoiled(&o.Inner)
	for i := range o.Inners {
		spoiled(&o.Inners[i])
	}
	for _, p := range o.Pairs {
		spoiled(p)
	}
	for name, in := range o.Named {
		spoiled(&in)
		delete(o.Named, name)
	}
	list := o.Any["list"].([]any)
	list[1].(map[string]any)["deep"].([]any)[0] = 2
	list[0], o.Any["n"] = "spoiled", 0
	face := o.Face.(inner)
	spoiled(&face)
	o.Raw[0] = 'x'
}

func TestClone(t *testing.T) {
	t.Parallel()
	v := aValue()
	c := memory.Clone(v)
	if !reflect.DeepEqual(c, aValue()) || c.None != nil || c.Empty == nil {
		t.Errorf("the copy is %+v", c)
	}
	spoil(&v)
	if !reflect.DeepEqual(c, aValue()) {
		t.Errorf("when the value changes, the copy is %+v", c)
	}
	v = memory.Clone(c)
	spoil(&c)
	if !reflect.DeepEqual(v, aValue()) {
		t.Errorf("when a copy changes, its original is %+v", v)
	}
}
