package expect_test

import (
	"fmt"

	"github.com/callwright/callwright/agents/conversation/expect"
)

func ExampleDigitsIn() {
	fmt.Println(expect.DigitsIn("en-US", "It's double oh seven, twenty-one."))
	fmt.Println(expect.DigitsIn("fr", "zéro six, soixante-douze"))
	// Output:
	// 00721
	// 0672
}

func ExampleTrailingDigits() {
	fmt.Println(expect.TrailingDigits("en", "Flight 12. My number is five, um, five"))
	// Output: 55
}
