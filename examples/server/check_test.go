package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/callwright/callwright/platform"
)

// TestCheckEngines checks the output for engines that are not there, and for the stand-in of a model.
func TestCheckEngines(t *testing.T) {
	t.Parallel()
	c, err := parse([]string{"--check-engines", "--stt", "vosk", "--stt-url", "ws://127.0.0.1:1"}, nil)
	if err != nil || !c.check {
		t.Fatal(err)
	}
	var out bytes.Buffer
	works, err := checkEngines(t.Context(), c.to, &out)
	if err != nil || works {
		t.Errorf("works %v, %v", works, err)
	}
	for _, want := range []string{"model (scripted): works\n", "  to do: configure a language model\n", "recognizer (vosk): FAILS: "} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output is\n%s\nwithout %q", &out, want)
		}
	}
	if _, err := checkEngines(t.Context(), platform.Config{TTS: "nobody"}, &out); err == nil {
		t.Error("an unknown voice is accepted")
	}
}
