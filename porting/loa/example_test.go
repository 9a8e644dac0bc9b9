package loa_test

import (
	"encoding/json"
	"fmt"

	"github.com/callwright/callwright/porting/loa"
)

// Verify checks archived evidence years later, with its PDFs and without a server.
func ExampleVerify() {
	kept, letter, signed := archive()

	var e loa.Evidence
	if err := json.Unmarshal(kept, &e); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("as it was kept:", loa.Verify(e, letter, signed))

	signed[0] = 'x'
	fmt.Println("another PDF:", loa.Verify(e, letter, signed) != nil)

	e.Events[2].Name = "Mallory"
	fmt.Println("another signer:", loa.Verify(e, nil, nil))
	// Output:
	// as it was kept: <nil>
	// another PDF: true
	// another signer: event 3 was changed: its content does not match its hash
}

// archive returns evidence as JSON, and the two PDFs whose hashes it contains.
func archive() (kept, letter, signed []byte) {
	kept, err := json.Marshal(evidence())
	if err != nil {
		panic(err)
	}
	return kept, []byte(theLetter), []byte(theSigned)
}
