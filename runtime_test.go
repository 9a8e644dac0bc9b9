package callwright_test

import (
	"log/slog"
	"testing"

	"github.com/callwright/callwright"
)

type config struct {
	Store  callwright.OrgID  `required:"always"`
	Key    callwright.Secret `required:"always"`
	Codecs []string          `required:"always"`

	Notifier func() // optional: requires URLs and Mailer
	URLs     *int   `required:"with Notifier"`
	Mailer   *int   `required:"with Notifier"`
	Voices   *int   // if nil, Speech is required
	Speech   *int   `required:"without Voices"`
	hidden   string

	callwright.Runtime
}

func TestPrepareConfigNamesEveryMissingField(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]config{
		"callwright_test: config.Store, config.Key and config.Codecs are required; config.Speech is required without config.Voices": {},
		"callwright_test: config.Store is required": {
			Key: "k", Codecs: []string{"PCMU"}, Voices: new(int),
		},
		"callwright_test: config.Codecs is required; config.URLs and config.Mailer are required with config.Notifier": {
			Store: "s", Key: "k", Codecs: []string{}, Notifier: func() {}, Speech: new(int), hidden: "h",
		},
	} {
		if err := callwright.PrepareConfig(&c); err == nil || err.Error() != want {
			t.Errorf("PrepareConfig = %v, want %s", err, want)
		}
	}
}

func TestPrepareConfigSetsTheDefaultsOfTheRuntime(t *testing.T) {
	t.Parallel()
	clock := &setClock{}
	c := config{Store: "s", Key: "k", Codecs: []string{"PCMU"}, Voices: new(int), Runtime: callwright.Runtime{Clock: clock}}
	if err := callwright.PrepareConfig(&c); err != nil {
		t.Fatal(err)
	}
	if c.Clock != clock || c.IDs.New() == "" || c.Logger.Handler() != slog.DiscardHandler {
		t.Errorf("the Runtime is %+v, want the clock that was given and the defaults", c.Runtime)
	}
	if err := callwright.PrepareConfig(&struct{ Limit int }{}); err != nil {
		t.Errorf("a configuration without a Runtime: %v", err)
	}
	if (callwright.Runtime{}).WithDefaults().Clock != (callwright.SystemClock{}) {
		t.Error("the default clock is not the machine's")
	}
}
