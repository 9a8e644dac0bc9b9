package storetest_test

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/callwright/callwright/adapters/bunstore/internal/storetest"
)

type inner struct {
	Word  string `json:"word,omitempty"`
	Count int
	Again *inner `json:"again"`
}

type outer struct {
	inner
	Named  inner             `json:"named"`
	List   []inner           `json:"list"`
	ByName map[string]*inner `json:"by_name"`
	Counts map[string]int    `json:"counts"`
	Raw    json.RawMessage   `json:"raw"`
	Bytes  []byte            `json:"bytes"`
	Any    any               `json:"any"`
	Net    netip.Prefix      `json:"net"`
	At     time.Time         `json:"at"`
	Took   time.Duration     `json:"took"`
	Gone   string            `json:"-"`
	hidden string
	Plain  string
}

func TestTextMembers(t *testing.T) {
	t.Parallel()
	_ = outer{hidden: ""}
	const want = "Plain any by_name.* by_name.*.word bytes counts.* list[].word named.word net raw word"
	if got := strings.Join(storetest.TextMembers(reflect.TypeFor[outer]()), " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := storetest.TextMembers(reflect.TypeFor[*string]()); len(got) != 1 || got[0] != "$" {
		t.Errorf("a text has %q", got)
	}
}
