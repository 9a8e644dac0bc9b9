package fingerprint

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// Header is one header of a response. Name is spelled as in the response.
type Header struct{ Name, Value string }

// Guess is the system that has probably sent a response.
type Guess struct {
	System     string   // for example "Asterisk"; often empty, which means unknown
	Version    string   // empty if unknown
	Confidence float64  // from 0 to 1
	Evidence   []string // human-readable; quotes no text of the peer
	Note       string   // advice for this system; may be empty
}

// The confidence of each kind of evidence, from 0 to 1. A product name is rarely wrong; other signs may be shared by several systems.
const (
	byName    = 0.9 // product name at the beginning of Server or User-Agent
	byRealm   = 0.7 // default digest realm
	bySet     = 0.5 // items of a list such as Allow or Supported, and their order
	byMention = 0.4 // vendor's name anywhere in Server or User-Agent
	byCase    = 0.3 // header names in capital letters
)

// Limits of the input; the rest is ignored.
const (
	maxHeaders = 64
	maxValue   = 512 // bytes of each value
)

// Identify guesses which system sent a response with these headers. The sign with the highest confidence determines the system; Evidence
// contains all signs of that system. Identify returns the zero Guess if it finds no sign.
func Identify(headers []Header) Guess {
	f := read(headers)
	var signs []sign
	signs = append(signs, f.names()...)
	signs = append(signs, f.realms()...)
	signs = append(signs, f.signatures()...)
	signs = append(signs, f.capitals()...)
	if len(signs) == 0 {
		return Guess{}
	}
	// MaxFunc returns the first of equal signs, and the tables are ordered by precedence.
	best := slices.MaxFunc(signs, func(a, b sign) int { return cmp.Compare(a.confidence, b.confidence) })
	guess := Guess{System: best.system, Version: best.version, Confidence: best.confidence, Note: notes[best.system]}
	for _, s := range signs {
		if s.system == best.system {
			guess.Evidence = append(guess.Evidence, s.evidence)
		}
	}
	return guess
}

// sign is one piece of evidence that a system sent the response.
type sign struct {
	system, version string
	confidence      float64
	evidence        string
}

// facts contains the headers of a response, by lower-case name.
type facts struct {
	values map[string][]string
	upper  bool // all long header names, at least three, are in capital letters
}

func read(headers []Header) facts {
	f := facts{values: map[string][]string{}}
	shouts, others := 0, 0
	for _, h := range headers[:min(len(headers), maxHeaders)] {
		name := strings.ToLower(h.Name)
		f.values[name] = append(f.values[name], h.Value[:min(len(h.Value), maxValue)])
		switch {
		case h.Name == strings.ToUpper(h.Name) && len(h.Name) > 3: // short names such as "TO" and "v" prove nothing
			shouts++
		case len(h.Name) > 3:
			others++
		}
	}
	f.upper = shouts >= 3 && others == 0
	return f
}

// names finds product names in Server and User-Agent. Only the first matching product of each header value counts.
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

// realms finds digest realms that are a system's default.
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

// signatures finds lists of methods or options that are typical of a system because of their items or their order.
func (f facts) signatures() []sign {
	var signs []sign
	for _, h := range signatures {
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

// fits reports whether the list in a header matches the signature.
func (h signature) fits(list string, f facts) bool {
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
	default: // the comparison is contains
		return !slices.ContainsFunc(want, func(item string) bool { return !slices.Contains(items, item) })
	}
}

// split returns the non-empty items of a comma-separated list, trimmed and in lower case.
func split(list string) []string {
	var items []string
	for item := range strings.SplitSeq(strings.ToLower(list), ",") {
		if item = strings.TrimSpace(item); item != "" {
			items = append(items, item)
		}
	}
	return items
}
