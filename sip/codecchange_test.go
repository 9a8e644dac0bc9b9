package sip_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/sip"
)

func TestChangeCodecs(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) { c.Codecs = []string{"PCMU", "PCMA", "G722"} })
	h.attach("a", []string{one}, outbound("sip:x.example"))
	for _, test := range []struct {
		change sip.CodecChange
		want   string // empty if the change is refused
	}{
		{sip.CodecChange{Codec: "PCMU", Move: 1}, "{[{PCMA true} {PCMU true} {G.722 false}] false}"},
		{sip.CodecChange{Codec: "G.722", Move: -2}, "{[{G.722 false} {PCMA true} {PCMU true}] false}"},
		{sip.CodecChange{Codec: "G.722", Enabled: new(true)}, "{[{G.722 true} {PCMA true} {PCMU true}] false}"},
		{sip.CodecChange{Codec: "G.722", Move: -1}, ""},
		{sip.CodecChange{Codec: "PCMU", Move: 1}, ""},
		{sip.CodecChange{Codec: "Opus", Move: 1}, ""}, // has no engine
		{sip.CodecChange{Transcode: new(true)}, "{[{G.722 true} {PCMA true} {PCMU true}] true}"},
		{sip.CodecChange{Codec: "G.722", Enabled: new(false)}, "{[{G.722 false} {PCMA true} {PCMU true}] true}"},
		{sip.CodecChange{Codec: "PCMA", Enabled: new(false)}, "{[{G.722 false} {PCMA false} {PCMU true}] true}"},
		{sip.CodecChange{Codec: "PCMU", Enabled: new(false)}, ""},
	} {
		test.change.Number, test.change.Direction = one, sip.Outbound
		got, err := h.ChangeCodecs(t.Context(), "a", test.change)
		switch {
		case test.want == "":
			wantField(t, err, callwright.CodeBadRequest, "codec_config.codecs")
		case err != nil || fmt.Sprint(*got.Codecs) != test.want:
			t.Errorf("%+v gave %v, %v", test.change, got.Codecs, err)
		}
	}
	for field, change := range map[string]sip.CodecChange{
		"phone_number": {Direction: sip.Outbound}, "direction": {Number: one, Direction: "up"},
	} {
		_, err := h.ChangeCodecs(t.Context(), "a", change)
		wantField(t, err, callwright.CodeBadRequest, field)
	}
	_, err := h.ChangeCodecs(t.Context(), "other", sip.CodecChange{Number: one, Direction: sip.Outbound, Transcode: new(true)})
	wantField(t, err, callwright.CodeNotFound, "")
}

// TestChangeCodecsAtOnce checks that concurrent changes of different codecs do not undo each other.
func TestChangeCodecsAtOnce(t *testing.T) {
	t.Parallel()
	h := open(t, func(c *sip.Config) { c.Codecs = []string{"PCMU", "PCMA", "G722"} })
	h.attach("a", []string{one}, outbound("sip:x.example"))
	change := func(c sip.CodecChange) {
		c.Number, c.Direction = one, sip.Outbound
		if _, err := h.ChangeCodecs(t.Context(), "a", c); err != nil {
			t.Error(err)
		}
	}
	change(sip.CodecChange{Codec: "G.722", Enabled: new(true)})
	var all sync.WaitGroup
	for _, c := range []sip.CodecChange{{Codec: "PCMU", Enabled: new(false)}, {Codec: "PCMA", Enabled: new(false)}, {Transcode: new(true)}} {
		all.Go(func() { change(c) })
	}
	all.Wait()
	if got := h.CodecsOf(*h.get("a", one).Outbound); fmt.Sprint(got) != "{[{PCMU false} {PCMA false} {G.722 true}] true}" {
		t.Errorf("it became %v", got)
	}
}
