package httpapi_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/httpapi"
)

// The operations on a mux of one's own, beside other handlers.
func ExampleMount() {
	var service swapper.Service = &fake{} // the library's client, or httpapi.NewClient
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	httpapi.Mount(mux, "/api", service, httpapi.Options{})

	server := httptest.NewServer(mux)
	defer server.Close()
	response, err := http.Get(server.URL + "/api/parseAddress?address=bc1")
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(response.Status, " ", string(body))
	// Output: 200 OK {"address":"bc1","type":"BITCOIN"}
}

// A service that runs elsewhere is used like one in the same process.
func ExampleNewClient() {
	server := httptest.NewServer(httpapi.New(&fake{}, httpapi.Options{}))
	defer server.Close()

	service, err := httpapi.NewClient(server.URL, httpapi.ClientOptions{Header: http.Header{"X-Api-Key": {"key"}}})
	if err != nil {
		log.Fatal(err)
	}
	_, err = service.GetSwapStatus(context.Background(), swapper.GetSwapStatusInput{SwapID: "nope"})
	fmt.Println(fault.CodeOf(err), "-", err)
	// Output: not_found - swap not found
}
