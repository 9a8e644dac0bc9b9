package turnlog

import (
	"strings"

	"github.com/callwright/callwright"
	"github.com/callwright/callwright/agents/llm"
	"github.com/callwright/callwright/agents/llm/price"
)

// causes maps classes of failures to the words that pages show.
var causes = map[llm.Class]string{
	llm.ClassTransient: "it did not answer", llm.ClassRateLimited: "its rate was limited", llm.ClassQuota: "its quota was used up",
	llm.ClassPermanent: "it refused the request", llm.ClassTooLong: "the conversation was too long for it",
	llm.ClassUnsupported: "it cannot do this", llm.ClassInvalid: "it gave no usable answer",
}

// causeText returns the words for the failure of a model.
func causeText(c llm.Class) string {
	if text, ok := causes[c]; ok {
		return text
	}
	return string(c)
}

// UsesText returns the names of models, with the models that they replaced and the reasons. It is empty if there are no models.
func UsesText(uses []llm.Use) string {
	var texts []string
	for _, u := range uses {
		text := callwright.Clip(u.Model, 200)
		if u.Cause != "" {
			text += " in place of " + callwright.Clip(u.Replaced, 200) + " (" + causeText(u.Cause) + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// dollars returns a cost in US dollars, or "unknown" for nil.
func dollars(cost *price.Money) string {
	if cost == nil {
		return "unknown"
	}
	return "$" + cost.String()
}
