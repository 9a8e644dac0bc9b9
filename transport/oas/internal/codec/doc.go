// Package codec is the common code of the generated packages: reading and writing JSON, checking values, reading parameters, and
// the code around an operation. The generated code names members, limits and types, and leaves the rest to this package, whose
// errors have the texts of ogen's own code.
//
// It is written by hand. internal/tools/contract/simplify writes its calls.
package codec
