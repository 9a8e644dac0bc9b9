package llm

import (
	"encoding/json"

	"github.com/callwright/callwright"
)

// Question asks for one JSON value. Which of Options, Fields and Evidence are used depends on the task; Choose, Extract
// and Ask fill in what follows from them.
type Question struct {
	Org          callwright.OrgID
	Task         Task   // TaskRoute, TaskExtract, TaskJudge, TaskAnalyze, TaskFix or TaskLabel
	Instructions string // the rules of this question, in the program's words
	Messages     []Message
	Variables    map[string]any  // what is known by name: data
	Options      []Option        // of TaskRoute and TaskLabel: what to choose from
	Fields       []Field         // of TaskExtract: what to look for
	Evidence     json.RawMessage // of the other tasks: what is to be judged beside the messages; data
	Schema       json.RawMessage // JSON schema of the answer
	Language     string
	Model        string
	Temperature  *float64
	Problem      string // what was wrong with the answer of the attempt before; empty for the first

	Trial, Attempt int // see ReplyRequest
}

// Option is one of the things to choose from.
type Option struct {
	ID          string
	Label       string // when it is the right one, in a few words
	Description string // more about that
	Condition   string // must be met too, or it is not the right one; empty: nothing must
	Otherwise   bool   // it is the right one when no other is
}

// Field is a value to look for.
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

// Answer is what a model answers to a Question.
type Answer struct {
	JSON  json.RawMessage // as the model wrote it; it may be anything
	Model string          // which model it was, where the service says so
	Usage Usage
}

// Choice is the answer to TaskRoute and TaskLabel.
type Choice struct {
	Option string // the id of one of the options
	Reason string // in the model's words, for logs
}
