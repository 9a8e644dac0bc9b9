package issues

import (
	"fmt"
	"strconv"

	"github.com/callwright/callwright/triage"
)

// sentences maps types of entries to verb phrases. The function sentence handles the types that need more than a fixed phrase.
var sentences = map[triage.EntryType]string{
	triage.TypeCreated: "opened the issue", triage.TypeStatusChanged: "changed the status", triage.TypeSeverityChanged: "changed the severity",
	triage.TypeCategoryChanged: "changed the category", triage.TypeAssigneeChanged: "changed the assignee",
	triage.TypeOwnerChanged: "changed the owner", triage.TypeComment: "commented", triage.TypeResourceAdded: "attached",
	triage.TypeResourceRemoved: "detached",
	triage.TypeAlertTransition: "saw an alert change", triage.TypeAccepted: "accepted the issue", triage.TypeDeclined: "declined the issue",
	triage.TypeSessionStarted: "began to work", triage.TypePrompt: "said to the agent", triage.TypeThought: "thought",
	triage.TypeAction: "did", triage.TypeResponse: "answered", triage.TypeArtifact: "made", triage.TypeError: "failed",
	triage.TypeSessionStopped: "stopped",
}

// sentence describes the action of an entry's actor in two texts: the first precedes the referenced issues, and the second follows them.
func sentence(e triage.Entry) (did, then string) {
	switch e.Type {
	case triage.TypeMerged:
		return merged(e)
	case triage.TypeRelationAdded:
		return "recorded that this issue " + relationOf(e), ""
	case triage.TypeRelationRemoved:
		if _, deleted := e.Metadata["deleted"]; deleted {
			return "deleted", "and with it the relation: this issue " + relationOf(e) + " that one"
		}
		return "recorded that this issue no longer " + relationOf(e), ""
	case triage.TypeFlagAdded:
		return "set the flag “" + text(e.Metadata["type"]) + "” on" + lineOf(e), ""
	case triage.TypeFlagRemoved:
		return "removed the flag “" + text(e.Metadata["type"]) + "” from" + lineOf(e), ""
	case triage.TypeResponse:
		if e.Session != nil && e.Session.Status == triage.SessionAwaitingInput {
			return "asked", ""
		}
	case triage.TypeComment:
		if !isComment(e) {
			return text(e.Metadata["action"]) + " a comment", ""
		}
	default:
	}
	return sentences[e.Type], ""
}

// merged describes a merge from the side of the closed issue or of the remaining one.
func merged(e triage.Entry) (did, then string) {
	if text(e.Metadata["merged_into"]) != "" {
		return "merged this issue into", ""
	}
	then = "into this issue"
	if n, ok := number(e.Metadata["not_attached"]); ok {
		then += fmt.Sprintf(", which had no room for %d of its attachments", n)
	}
	if len(e.Resources) > 0 {
		then += ", and attached"
	}
	return "merged", then
}

// relationOf describes an entry's relation from the side of the issue whose feed contains the entry, such as "blocks" or "is blocked by".
func relationOf(e triage.Entry) string {
	return relation(triage.RelationType(text(e.Metadata["relation_type"])), text(e.Metadata["direction"]) == "outgoing")
}

// lineOf names the flagged line of a call. It returns "" if the flag applies to the whole call.
func lineOf(e triage.Entry) string {
	n, ok := number(e.Metadata["message_index"])
	if !ok {
		return ""
	}
	return fmt.Sprintf(" line %d of", n+1)
}

// number converts a value of an entry's metadata, which stores may return as floating point, to an int. It reports false for an invalid
// value.
func number(value any) (n int, ok bool) {
	f, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	return int(f), err == nil && f >= 0 && f < maxLine
}
