package llm

import (
	"encoding/json"

	"github.com/callwright/callwright"
)

// Question asks for one JSON value. The task decides which of Options, Fields and Evidence are used. Choose and Extract set
// Instructions and Schema.
type Question struct {
	Org          callwright.OrgID
	Task         Task   // TaskRoute, TaskExtract, TaskJudge, TaskAnalyze, TaskFix or TaskLabel
	Instructions string // the rules of the question
	Messages     []Message
	Variables    map[string]any  // known values by name: data
	Options      []Option        // of TaskRoute and TaskLabel: the options to choose from
	Fields       []Field         // of TaskExtract: the values to extract
	Evidence     json.RawMessage // of the other tasks: evidence in addition to the messages; data
	Schema       json.RawMessage // JSON schema of the answer
	Language     string
	Model        string
	Temperature  *float64
	Problem      string // error of the previous answer; empty in the first attempt

	Trial, Attempt int // see ReplyRequest
}

// Option is an option to choose.
type Option struct {
	ID          string
	Label       string // short condition of the option
	Description string // more about Label
	Condition   string // must also be met; empty: none
	Otherwise   bool   // the option is right when no other is
}

// Field is a value to extract.
type Field struct {
	Name        string
	Type        FieldType
	Description string
}

// FieldType is the type of a value.
type FieldType string

// The types of fields.
const (
	FieldString  FieldType = "string"
	FieldInteger FieldType = "integer"
	FieldNumber  FieldType = "number"
	FieldBoolean FieldType = "boolean"
)

// Answer is the answer of a model to a Question.
type Answer struct {
	JSON  json.RawMessage // as the model wrote it; may be invalid
	Model string          // the answering model, if the service reports it
	Usage Usage
}

// Choice is the answer to TaskRoute and TaskLabel.
type Choice struct {
	Option string // the id of one of the options
	Reason string // in the model's words, for logs
}
