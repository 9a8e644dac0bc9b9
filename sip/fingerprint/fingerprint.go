package fingerprint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Header is one header of an answer as it came: the name in its own case, in its own order.
type Header struct{ Name, Value string }

// Guess is the system that an answer comes from.
type Guess struct {
	System     string   // such as "Asterisk"; empty: unknown, which is normal
	Version    string   // empty: not told
	Confidence float64  // 0 to 1
	Evidence   []string // for people, without text of the peer's own
	Note       string   // what to know about this system; empty: nothing
}

// How sure each kind of sign makes: what a system calls itself is rarely a lie, and its habits may be shared.
const (
	byName    = 0.9 // Server or User-Agent
	byRealm   = 0.7 // the digest realm that it comes with
	bySet     = 0.5 // the order of Allow, the set in Supported
	byMention = 0.4 // a maker's name anywhere in Server or User-Agent
	byCase    = 0.3 // how header names are written
)

// The bounds of what is looked at.
const (
	maxHeaders = 64
	maxValue   = 512 // bytes
)

// Identify guesses which system has answered with these headers. The surest sign decides, and whatever else speaks for
// the same system stands beside it in the evidence.
func Identify(headers []Header) Guess {
	f := read(headers)
	var signs []sign
	signs = append(signs, f.names()...)
	signs = append(signs, f.realms()...)
	signs = append(signs, f.habits()...)
	signs = append(signs, f.capitals()...)
	if len(signs) == 0 {
		return Guess{}
	}
	// Of equally sure ones the first: the tables are in the order in which they count.
	best := slices.MaxFunc(signs, func(a, b sign) int { return cmp.Compare(a.confidence, b.confidence) })
	guess := Guess{System: best.system, Version: best.version, Confidence: best.confidence, Note: notes[best.system]}
	for _, s := range signs {
		if s.system == best.system {
			guess.Evidence = append(guess.Evidence, s.evidence)
		}
	}
	return guess
}

// sign is one thing that speaks for a system.
type sign struct {
	system, version string
	confidence      float64
	evidence        string
}

// facts are the headers that tell, by their names in lower case.
type facts struct {
	values map[string][]string
	upper  bool // every header name is in capital letters
}

func read(headers []Header) facts {
	f := facts{values: map[string][]string{}}
	shouts, others := 0, 0
	for _, h := range headers[:min(len(headers), maxHeaders)] {
		name := strings.ToLower(h.Name)
		f.values[name] = append(f.values[name], h.Value[:min(len(h.Value), maxValue)])
		switch {
		case h.Name == strings.ToUpper(h.Name) && len(h.Name) > 3: // "Via" tells, "CSeq" tells, "To" and "v" do not
			shouts++
		case len(h.Name) > 3:
			others++
		}
	}
	f.upper = shouts >= 3 && others == 0
	return f
}

// names finds what a system calls itself. Of its own signatures the first alone counts.
func (f facts) names() []sign {
	var signs []sign
	for _, header := range []string{"Server", "User-Agent"} {
		for _, value := range f.values[strings.ToLower(header)] {
			for _, p := range products {
				match := p.pattern.FindStringSubmatch(value)
				if match == nil {
					continue
				}
				s := sign{system: p.system, confidence: p.confidence, evidence: "the " + header + " header has the form that " + p.system + " sends"}
				if len(match) > 1 {
					s.version = match[1]
				}
				signs = append(signs, s)
				break
			}
		}
	}
	return signs
}

var realm = regexp.MustCompile(`(?i)\brealm\s*=\s*"([^"]{1,64})"`)

// realms finds the digest realm of a system that nobody has given another.
func (f facts) realms() []sign {
	var signs []sign
	for _, value := range slices.Concat(f.values["www-authenticate"], f.values["proxy-authenticate"]) {
		match := realm.FindStringSubmatch(value)
		if match == nil {
			continue
		}
		if system, ok := defaultRealms[strings.ToLower(match[1])]; ok {
			signs = append(signs, sign{system: system, confidence: byRealm, evidence: "the digest realm is the one that " + system + " comes with"})
		}
	}
	return signs
}

// habits finds lists of methods and options in the order, or as the set, that a system is known for.
func (f facts) habits() []sign {
	var signs []sign
	for _, h := range habits {
		lists, given := f.values[strings.ToLower(h.header)]
		if given && h.fits(strings.Join(lists, ","), f) {
			signs = append(signs, sign{system: h.system, confidence: bySet, evidence: "the " + h.header + " header lists what " + h.system + " lists, in its way"})
		}
	}
	return signs
}

func (f facts) capitals() []sign {
	if !f.upper {
		return nil
	}
	return []sign{{system: teams, confidence: byCase, evidence: "the header names are in capital letters, as " + teams + " writes them"}}
}

// fits says whether a header's list is the one of the habit.
func (h habit) fits(list string, f facts) bool {
	items := split(list)
	want := split(h.list)
	if h.without != "" && len(f.values[strings.ToLower(h.without)]) > 0 {
		return false
	}
	switch h.how {
	case ordered:
		return slices.Equal(items, want)
	case begins:
		return len(items) >= len(want) && slices.Equal(items[:len(want)], want)
	default: // contains
		return !slices.ContainsFunc(want, func(item string) bool { return !slices.Contains(items, item) })
	}
}

// split gives the items of a list, in lower case and without blanks around them.
func split(list string) []string {
	var items []string
	for item := range strings.SplitSeq(strings.ToLower(list), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
