package triage

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// The limits of short texts, in characters, as the contract counts them.
const (
	maxTitle    = 300
	maxName     = 200 // of an actor, an agent, a node
	maxID       = 64
	maxResource = 128 // of a resource's id
	maxURL      = 2048
)

// checkText refuses a short text that has too many characters for its field, or that a database can't keep.
func checkText(field, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return callwright.Invalid(field, "has %d characters, more than %d", n, most)
	}
	return checkBytes(field, text, 4*most)
}

// checkBytes refuses a long text that has too many bytes for its field, or that a database can't keep.
func checkBytes(field, text string, most int) error {
	switch {
	case len(text) > most:
		return callwright.Invalid(field, "has %d bytes, more than %d", len(text), most)
	case !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0:
		return callwright.Invalid(field, "is not valid UTF-8, or holds a NUL character")
	}
	return nil
}

// requireText is checkText for a text that must say something.
func requireText(field, text string, most int) error {
	if strings.TrimSpace(text) == "" {
		return callwright.Invalid(field, "is required")
	}
	return checkText(field, text, most)
}

// requireDetail is checkBytes for the detail of what must say something.
func requireDetail(text string, most int) error {
	if strings.TrimSpace(text) == "" {
		return callwright.Invalid("detail", "is required")
	}
	return checkBytes("detail", text, most)
}

// checkLink refuses a link that leads anywhere but to the web, such as one that runs a script in who follows it.
func checkLink(field, link string) error {
	if err := checkText(field, link, maxURL); err != nil {
		return err
	}
	u, err := url.Parse(link)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return callwright.Invalid(field, "is not an http or https URL")
	case u.User != nil:
		return callwright.Invalid(field, "has a user or a password in it, which everybody would see")
	}
	return nil
}

// checkOneOf refuses what is none of some values.
func checkOneOf[T ~string](field string, value T, all ...T) error {
	if !slices.Contains(all, value) {
		return callwright.Invalid(field, "is none of %q", all)
	}
	return nil
}

// check refuses an actor that can't be told.
func (a Actor) check() error {
	if err := checkOneOf("actor.kind", a.Kind, ActorUser, ActorSystem, ActorAgent); err != nil {
		return err
	}
	if err := requireText("actor.id", a.ID, maxID); err != nil {
		return err
	}
	if err := checkText("actor.label", a.Label, maxName); err != nil {
		return err
	}
	return checkText("actor.avatar_url", a.AvatarURL, maxURL)
}
