"""A registry of packages on loopback, for npm and for pip: what stands below the folder `npm` and `pypi` of its first argument.

`npm/NAME/` is a package as its author has it, `pypi/NAME/` a folder of files that are offered as they are. Says its port on the first line."""

import http.server
import io
import json
import os
import sys
import tarfile

root = sys.argv[1]


def packed(name):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        archive.add(os.path.join(root, "npm", name), arcname="package")
    return data.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        address = "http://%s:%d" % self.server.server_address
        parts = self.path.strip("/").split("/")
        if parts[0] == "simple":
            folder = os.path.join(root, "pypi", parts[1])
            if len(parts) == 2 and os.path.isdir(folder):
                links = "".join(f'<a href="/simple/{parts[1]}/{file}">{file}</a>' for file in os.listdir(folder))
                return self.say("text/html", f"<html><body>{links}</body></html>".encode())
            file = os.path.join(folder, parts[-1])
            if os.path.isfile(file):
                return self.say("application/octet-stream", open(file, "rb").read())
        elif os.path.isdir(os.path.join(root, "npm", parts[0])):
            if len(parts) > 1:
                return self.say("application/octet-stream", packed(parts[0]))
            about = json.load(open(os.path.join(root, "npm", parts[0], "package.json")))
            version = about["version"]
            about["dist"] = {"tarball": f"{address}/{parts[0]}/-/{parts[0]}-{version}.tgz"}
            about["hasInstallScript"] = True
            about = {"name": parts[0], "dist-tags": {"latest": version}, "versions": {version: about}}
            return self.say("application/json", json.dumps(about).encode())
        self.send_error(404)

    def say(self, kind, body):
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
