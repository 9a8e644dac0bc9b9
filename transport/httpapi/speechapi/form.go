package speechapi

import (
	"maps"
	"mime/multipart"
	"slices"
	"unicode/utf8"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/speech"
)

// The names of form parts that are used more than once.
const (
	formName    = "name"
	formSamples = "audio_samples"
)

// formTexts lists the text parts of the form, with their minimum and maximum lengths in characters as in the contract.
var formTexts = []struct {
	name        string
	least, most int
}{{formName, 1, speech.MaxName}, {"description", 0, speech.MaxDescription}, {"gender", 0, speech.MaxName}, {"language", 2, 35}}

// formFault returns the error in the form of a new voice with the name of its part. The generated code refuses the same forms, but does not
// name the part. If formFault finds no error, it returns the given error.
func formFault(form *multipart.Form, other error) error {
	known := map[string]bool{formSamples: true}
	for _, text := range formTexts {
		known[text.name] = true
		length := 0
		for _, value := range form.Value[text.name] {
			length = utf8.RuneCountInString(value)
		}
		switch given := len(form.Value[text.name]) > 0; {
		case !given && text.name == formName:
			return callwright.Invalid(formName, "is required")
		case given && length < text.least:
			return callwright.Invalid(text.name, "has a length of %d; at least %d is required", length, text.least)
		case length > text.most:
			return callwright.Invalid(text.name, "has a length of %d; at most %d is allowed", length, text.most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.Value)) {
		if !known[name] {
			return callwright.Invalid(name, "is not a known property")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(form.File)) {
		if !known[name] {
			return callwright.Invalid(name, "is not a known property")
		}
	}
	switch files := len(form.File[formSamples]); {
	case len(form.Value[formSamples]) > 0:
		return callwright.Invalid(formSamples, "must be files: each part must have a filename")
	case files == 0:
		return callwright.Invalid(formSamples, "is required")
	case files > speech.MaxFiles:
		return callwright.Invalid(formSamples, "has a length of %d; at most %d is allowed", files, speech.MaxFiles)
	}
	return other
}
