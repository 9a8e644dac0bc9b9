package llm

import (
	"encoding/json"

	"github.com/callwright/callwright"
)

// Question asks for one JSON value. Its Task determines which of Options, Fields and Evidence are used. Choose and Extract set Schema, and
// add their rules to Instructions.
type Question struct {
	Org          callwright.OrgID
	Task         Task   // TaskRoute, TaskExtract, TaskJudge, TaskAnalyze, TaskFix or TaskLabel
	Instructions string // rules of the question
	Messages     []Message
	Variables    map[string]any  // known values by name; treated as data
	Options      []Option        // options of TaskRoute and TaskLabel
	Fields       []Field         // values that TaskExtract extracts
	Evidence     json.RawMessage // evidence for other tasks in addition to the messages; treated as data
	Schema       json.RawMessage // JSON schema of the answer
	Language     string
	Model        string
	Fallback     string // see ReplyRequest
	Temperature  *float64
	Problem      string // error of the previous answer; empty at the first attempt

	Trial, Attempt int // see ReplyRequest
}

// Option is one option of a choice.
type Option struct {
	ID          string
	Label       string // short condition under which the option is right
	Description string // details of Label
	Condition   string // additional condition; may be empty
	Otherwise   bool   // whether the option is right if no other is
}

// Field describes a value to extract.
type Field struct {
	Name        string
	Type        FieldType
	Description string
}

// FieldType is the JSON type of a Field's value.
type FieldType string

// The types of fields.
const (
	FieldString  FieldType = "string"
	FieldInteger FieldType = "integer"
	FieldNumber  FieldType = "number"
	FieldBoolean FieldType = "boolean"
)

// Answer is a model's answer to a Question.
type Answer struct {
	JSON  json.RawMessage // unchanged text of the model, which may be invalid
	Model string          // name of the model that answered, if the service reports it; Model.Name if Cause is set
	Usage Usage
	Cause Class // class of the requested model's failure, because of which Model has answered in its place; else empty
}

// Choice is the result of TaskRoute and TaskLabel.
type Choice struct {
	Option string // id of the chosen option
	Reason string // reason in the model's words, for logs
}
