package httpapi

import (
	"bytes"
	_ "embed" // for the document
	"encoding/json"
)

// documentName is the name of the description below the base path.
const documentName = "openapi.json"

// openAPI is the description of the interface, version 1.0.1, in OpenAPI 3.0.3. It
// is written by hand and served with the base path as its server.
//
//go:embed openapi.json
var openAPI []byte

// document returns the description for a handler at base.
func document(base string) []byte {
	if base == "" {
		return openAPI
	}
	url, err := json.Marshal(base)
	if err != nil { // a string cannot fail to encode
		return openAPI
	}
	return bytes.Replace(openAPI, []byte(`"url": "/"`), append([]byte(`"url": `), url...), 1)
}
