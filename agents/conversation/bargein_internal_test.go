package conversation

import (
	"testing"
	"time"
)

// TestBargeInRules checks how the settings of a Config and of a sentence combine.
func TestBargeInRules(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	level := InterruptibilityOf
	for name, test := range map[string]struct {
		config bargeInConfig
		say    BargeIn
		want   bargeInRule
	}{
		"nothing set":                            {bargeInConfig{}, BargeIn{}, bargeInRule{200 * ms, 1200 * ms, 1}},
		"threshold":                              {bargeInConfig{0, 500 * ms}, BargeIn{}, bargeInRule{500 * ms, 1200 * ms, 1}},
		"long threshold":                         {bargeInConfig{0, 3000 * ms}, BargeIn{}, bargeInRule{3000 * ms, 3000 * ms, 1}},
		"never":                                  {bargeInConfig{level(0), 500 * ms}, BargeIn{}, bargeInRule{}},
		"reluctantly":                            {bargeInConfig{level(1), 0}, BargeIn{}, bargeInRule{500 * ms, 2500 * ms, 3}},
		"normally":                               {bargeInConfig{level(2), 0}, BargeIn{}, bargeInRule{200 * ms, 1200 * ms, 1}},
		"readily":                                {bargeInConfig{level(3), 0}, BargeIn{}, bargeInRule{120 * ms, 600 * ms, 1}},
		"immediately":                            {bargeInConfig{level(4), 0}, BargeIn{}, bargeInRule{80 * ms, 80 * ms, 0}},
		"immediately after a threshold":          {bargeInConfig{level(4), 300 * ms}, BargeIn{}, bargeInRule{300 * ms, 300 * ms, 0}},
		"sentence's level":                       {bargeInConfig{level(4), 500 * ms}, BargeIn{Level: level(1)}, bargeInRule{500 * ms, 2500 * ms, 3}},
		"sentence never":                         {bargeInConfig{level(4), 0}, BargeIn{Level: level(0), Threshold: 90 * ms}, bargeInRule{}},
		"sentence's level ends never":            {bargeInConfig{level(0), 0}, BargeIn{Level: level(3)}, bargeInRule{120 * ms, 600 * ms, 1}},
		"sentence's threshold":                   {bargeInConfig{level(3), 500 * ms}, BargeIn{Threshold: 90 * ms}, bargeInRule{90 * ms, 600 * ms, 1}},
		"sentence's threshold and never":         {bargeInConfig{level(0), 0}, BargeIn{Threshold: 90 * ms}, bargeInRule{}},
		"sentence's level replaces a threshold":  {bargeInConfig{0, 900 * ms}, BargeIn{Level: level(2)}, bargeInRule{200 * ms, 1200 * ms, 1}},
		"sentence's level and threshold":         {bargeInConfig{0, 900 * ms}, BargeIn{Level: level(4), Threshold: 60 * ms}, bargeInRule{60 * ms, 60 * ms, 0}},
		"numbers beyond the levels are the ends": {bargeInConfig{level(9), 0}, BargeIn{Level: level(-1)}, bargeInRule{}},
	} {
		c := Config{Interruptibility: test.config.level, Interruption: test.config.threshold}
		if c.Interruptibility == Inherited {
			c.Interruptibility = NormallyInterrupted
		}
		if got := c.bargeInRule(test.say); got != test.want {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}

type bargeInConfig struct {
	level     Interruptibility
	threshold time.Duration
}

// TestWordsThatCut checks which words interrupt an answer at each level. Each want contains one character per level, in the order of the
// levels: + if the words interrupt, otherwise -.
func TestWordsThatCut(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ said, text, want string }{
		{"We are open.", "", "-----"},
		{"We are open.", "uh huh", "----+"},
		{"We are open.", "um", "----+"},
		{"We are open.", "no", "--+++"},
		{"We are open.", "but when", "--+++"},
		{"We are open.", "but when exactly", "-++++"},
		{"We are open.", "wait", "-++++"},
		{"Are you there?", "yes", "-++++"},
		{"Are you there?", "no", "-++++"},
	} {
		var got []byte
		for n := range 5 {
			cuts := map[bool]byte{false: '-', true: '+'}
			got = append(got, cuts[(&Config{}).bargeInRule(BargeIn{Level: InterruptibilityOf(n)}).cuts("en", test.said, test.text)])
		}
		if string(got) != test.want {
			t.Errorf("after %q, %q cuts: %s, want %s", test.said, test.text, got, test.want)
		}
	}
}
