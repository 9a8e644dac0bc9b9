package loatest_test

import (
	"context"
	"fmt"

	"github.com/callwright/callwright/porting/loa"
	"github.com/callwright/callwright/porting/loa/loatest"
)

// Plain renders a letter as plain text, so that a test can read it without a PDF library.
func Example() {
	letter, err := loatest.Plain{}.RenderLetter(context.Background(), loa.Text{
		Title: "Letter of Authorization", Facts: []loa.Fact{{Name: "Name", Value: "Ada Park"}},
		Numbers: []string{"+14155550101"}, Paragraphs: []string{"I authorize the transfer."},
	})
	fmt.Println(err)
	fmt.Print(string(letter))
	// Output:
	// <nil>
	// Letter of Authorization
	// Name
	// Ada Park
	// +14155550101
	// I authorize the transfer.
}
