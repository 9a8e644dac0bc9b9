package callwright

import "unicode/utf8"

// Clip is a text of at most so many bytes, cut between characters; an ellipsis stands for what is cut off.
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const more = "…"
	if most < len(more) {
		return ""
	}
	most -= len(more)
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + more
}
