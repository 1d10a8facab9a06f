//! The requests that are answered, one method each.

use std::sync::Arc;

use axum::http::request::Parts;
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CustomRequest, CustomResult, DiscoverResult,
    GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult,
    InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceDirectoryRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourcesCapability, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};

use crate::uri;

use super::answer::{Stamped, finish};
use super::cursor::Listing;
use super::failure::Failure;
use super::gate::Pass;
use super::method::Method;
use super::page::{self, RESOURCES_MAX, SKILLS_MAX};
use super::session::Session;
use super::{Handler, entry, filter, listen, resource};

type Context = RequestContext<RoleServer>;
type Paginated = Option<PaginatedRequestParams>;

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        (*self.config).clone()
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: Context,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        match session(&context) {
            Some(session) => session.begin(),
            // What cannot be delivered is not declared.
            None => result.capabilities.resources = Some(ResourcesCapability::default()),
        }
        Ok(result)
    }

    async fn discover(&self, _: Context) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let stamp = &self.stamp;
        Ok(DiscoverResult::from_server_info(versions, self.get_info())
            .with_ttl_ms(self.ttl_ms())
            .with_cache_scope(stamp.cache_scope))
    }

    async fn list_skills(&self, request: Paginated, context: Context) -> Result<ListSkillsResult, ErrorData> {
        let work = async {
            let after = after(Listing::Skills, request)?;
            let snapshot = self.catalog.snapshot().await?;
            let skills = snapshot.skills_after(after.as_deref());
            let page = page::fill(skills, SKILLS_MAX, |skill| entry::entry(&snapshot, skill));
            let mut result = ListSkillsResult::with_all_items(page.entries);
            result.next_cursor = page.last.map(|skill| Listing::Skills.cursor(&skill.path));
            Ok(result)
        };
        self.answer("skills/list", &context, work).await
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        context: Context,
    ) -> Result<GetSkillResult, ErrorData> {
        let work = async {
            let snapshot = self.catalog.snapshot().await?;
            let found = entry::find(&snapshot, &request.uri).ok_or(Failure::NoSkill(request.uri))?;
            Ok(GetSkillResult::new(entry::entry(&snapshot, found.skill)))
        };
        self.answer("skills/get", &context, work).await
    }

    async fn list_resources(
        &self,
        request: Paginated,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let work = async {
            let after = after(Listing::Resources, request)?;
            let snapshot = self.catalog.snapshot().await?;
            let skills = snapshot.listed_after(after.as_deref());
            let page = page::fill(skills, RESOURCES_MAX, |listed| {
                Resource::from(resource::of_skill(*listed, &entry::skill_md_path(listed.skill)))
            });
            let mut result = ListResourcesResult::with_all_items(page.entries);
            result.next_cursor = page.last.map(|last| Listing::Resources.cursor(&last.skill.path));
            Ok(result)
        };
        self.answer("resources/list", &context, work).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let work = async {
            let uri = request.uri;
            let path = to_path(&uri)?;
            let (file, bytes) = match self.catalog.read(&path).await {
                Err(crate::catalog::ReadError::NotServed) => return Err(Failure::NoResource(uri)),
                read => read?,
            };
            Ok(ReadResourceResult::new(vec![resource::contents(uri, &path, file, bytes)]))
        };
        self.answer("resources/read", &context, work).await.map(ReadResourceResponse::from)
    }

    async fn read_resource_directory(
        &self,
        request: ReadResourceDirectoryRequestParams,
        context: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let work = async {
            let path = to_path(&request.uri)?;
            let listing = Listing::Directory(&path);
            let after = request.cursor.map(|cursor| listing.after(&cursor)).transpose()?;
            let snapshot = self.catalog.snapshot().await?;
            let children =
                snapshot.children(&path, after.as_deref()).ok_or(Failure::NoDirectory(request.uri))?;
            let page = page::fill(children, RESOURCES_MAX, |child| Resource::from(resource::of_node(*child)));
            let mut result = ListResourcesResult::with_all_items(page.entries);
            result.next_cursor = page.last.map(|child| listing.cursor(child.path));
            Ok(result)
        };
        self.answer("resources/directory/read", &context, work).await
    }

    async fn list_resource_templates(
        &self,
        request: Paginated,
        context: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.answer("resources/templates/list", &context, nothing(request)).await
    }

    async fn list_tools(&self, request: Paginated, context: Context) -> Result<ListToolsResult, ErrorData> {
        self.answer("tools/list", &context, nothing(request)).await
    }

    async fn list_prompts(
        &self,
        request: Paginated,
        context: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.answer("prompts/list", &context, nothing(request)).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        Err(Failure::Unknown { kind: "tool", name: request.name.into_owned() }.into())
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(Failure::Unknown { kind: "prompt", name: request.name }.into())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(filter::honoured(requested))
    }

    async fn listen(&self, subscription: SubscriptionContext) -> Result<(), ErrorData> {
        let context = subscription.request_context();
        // A transport that lets nobody in cannot keep a subscription either: it ends at once.
        let Some(pass) = attached::<Pass>(context) else { return Ok(()) };
        let work = listen::listen(&self.catalog, pass, &subscription);
        finish("subscriptions/listen", &context.ct, work).await
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Result<(), ErrorData> {
        let Some(session) = session(&context) else {
            return Err(Failure::Method("resources/subscribe".to_owned()).into());
        };
        let path = to_path(&request.uri)?;
        Ok(session.subscribe(request.uri, path)?)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: Context,
    ) -> Result<(), ErrorData> {
        let Some(session) = session(&context) else {
            return Err(Failure::Method("resources/unsubscribe".to_owned()).into());
        };
        session.unsubscribe(&request.uri);
        Ok(())
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: Context,
    ) -> Result<CustomResult, ErrorData> {
        // rmcp hands a request on as an unknown one when its parameters are malformed.
        let method = Method::named(&request.method);
        let is_known = match method.as_str() {
            "initialize" | "ping" => !is_modern(&context),
            "resources/subscribe" | "resources/unsubscribe" => session(&context).is_some(),
            _ => method.is_request(),
        };
        if is_known {
            return Err(Failure::Params(request.method).into());
        }
        Err(Failure::Method(request.method).into())
    }
}

impl Handler {
    /// Finishes the work for one request and stamps its result.
    async fn answer<T: Stamped>(
        &self,
        method: &str,
        context: &Context,
        work: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, ErrorData> {
        let mut result = finish(method, &context.ct, work).await?;
        result.stamp(&self.stamp, self.ttl_ms(), is_modern(context));
        Ok(result)
    }
}

/// What a transport has attached to the request, be it to the message or to the HTTP request that brought it.
fn attached<T: Clone + Send + Sync + 'static>(context: &Context) -> Option<&T> {
    let extensions = &context.extensions;
    extensions.get::<T>().or_else(|| extensions.get::<Parts>()?.extensions.get::<T>())
}

/// The session of a peer from before 2026-07-28, if it can be told something later.
fn session(context: &Context) -> Option<&Session> {
    attached::<Arc<Session>>(context).map(|session| &**session).filter(|_| !is_modern(context))
}

/// Whether the request is one of 2026-07-28 or later.
fn is_modern(context: &Context) -> bool {
    context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

/// The served path that a URI names, in whichever spelling.
fn to_path(uri: &str) -> Result<String, Failure> {
    uri::to_path(uri).map_err(|error| Failure::Uri { uri: uri.to_owned(), error })
}

/// The path after which the page that is asked for begins; `None` for the first page.
fn after(listing: Listing<'_>, request: Paginated) -> Result<Option<String>, Failure> {
    let cursor = request.and_then(|request| request.cursor);
    Ok(cursor.map(|cursor| listing.after(&cursor)).transpose()?)
}

/// The one page of a listing that has nothing on it, and so gave out no cursor.
async fn nothing<T: Default>(request: Paginated) -> Result<T, Failure> {
    match request.and_then(|request| request.cursor) {
        Some(_) => Err(Failure::Cursor),
        None => Ok(T::default()),
    }
}
