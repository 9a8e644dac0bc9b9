package triage

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/callwright/callwright"
)

// Maximum lengths of texts, in characters, as in the contract.
const (
	maxTitle    = 300
	maxName     = 200 // names and other short texts, such as categories and types
	maxID       = 64
	maxResource = 128 // id of a resource
	maxURL      = 2048
)

// checkText refuses a text with more characters than the given maximum, and text that databases cannot store.
func checkText(field, text string, most int) error {
	if n := utf8.RuneCountInString(text); n > most {
		return callwright.Invalid(field, "has %d characters; at most %d are allowed", n, most)
	}
	return checkUTF8(field, text)
}

// checkUTF8 refuses text that databases cannot store: invalid UTF-8 and NUL characters.
func checkUTF8(field, text string) error {
	if !utf8.ValidString(text) || strings.IndexByte(text, 0) >= 0 {
		return callwright.Invalid(field, "must be valid UTF-8 without NUL characters")
	}
	return nil
}

// requireText refuses a blank text, and any text that checkText refuses.
func requireText(field, text string, most int) error {
	if strings.TrimSpace(text) == "" {
		return callwright.Invalid(field, "is required")
	}
	return checkText(field, text, most)
}

// checkLink refuses a URL whose scheme is not http or https, for example one that runs a script in a browser. It also refuses credentials
// in the URL, because every reader would see them.
func checkLink(field, link string) error {
	if err := checkText(field, link, maxURL); err != nil {
		return err
	}
	u, err := url.Parse(link)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return callwright.Invalid(field, "must be an http or https URL")
	case u.User != nil:
		return callwright.Invalid(field, "must not contain a user name or password: every reader would see it")
	}
	return nil
}

// checkOneOf refuses a value that is not in a list.
func checkOneOf[T ~string](field string, value T, all ...T) error {
	if !slices.Contains(all, value) {
		return callwright.Invalid(field, "must be one of %q", all)
	}
	return nil
}

// check refuses an actor with an unknown kind, without an id, or with texts that are too long.
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
