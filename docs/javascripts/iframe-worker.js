"use strict";
// A browser starts no worker for a page that is a file, and the site's search is one. This class
// runs the worker's script in a hidden frame in its place. The theme knows it by its second name.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      const loaded = new Promise(done => this.frame.addEventListener("load", done, {once: true}));
      document.body.append(this.frame);
      this.ready = loaded.then(() => this.begin(url));
    }
    begin(url) {
      const inside = this.frame.contentWindow;
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
      inside.importScripts = (...urls) =>
        urls.reduce((before, each) => before.then(() => this.run(each)), Promise.resolve());
      return this.run(url);
    }
    run(url) {
      return new Promise((done, failed) => {
        const script = this.frame.contentDocument.createElement("script");
        Object.assign(script, {src: url, onload: done, onerror: failed});
        this.frame.contentDocument.body.append(script);
      });
    }
    postMessage(data) {
      const sent = () => new MessageEvent("message", {data});
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(sent()));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
