// Package codec contains the code that the generated packages share: reading and writing JSON, validating values, reading parameters, and
// running an operation. The generated code only names members, limits and types. The errors of this package have the same texts as ogen's.
//
// The package is written by hand. internal/tools/contract/simplify inserts the calls to it.
package codec
